"""A granted call, and the report of its result."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from checkrail.answers import CallFinding, Preview, Ruling, Settled
from checkrail.errors import CheckrailError, Unreachable
from checkrail.flows.backlog import CallResult
from checkrail.flows.call_requests import build_result_body, build_result_request
from checkrail.flows.calls import GrantedCall
from checkrail.flows.result_queue import report_result
from checkrail.flows.run_core import RunCore
from checkrail.flows.usage import read_usage
from checkrail.money import Money
from checkrail.transport.effects import Flow

# Below what a body may hold, with room for everything around it.
OUTPUT_LIMIT = 200_000
# How deep a body may be nested, with room for what is around it, and the largest number
# that it may hold.
DEPTH, LARGEST = 25, 2**53 - 1
# Marks a result that could only be reported as a text.
REPR_KEY = "$repr"

logger = logging.getLogger("checkrail")


class CallCore:
    """What `Call` and `AsyncCall` share. Run exactly what stands here."""

    def __init__(self, run: RunCore, granted: GrantedCall) -> None:
        self.run = run
        self.driver = run.driver
        self.granted = granted
        self.report: CallResult | None = None
        self._began = run.connection.clock()

    @property
    def id(self) -> str:
        return self.granted.id

    @property
    def kind(self) -> str:
        return self.granted.kind

    @property
    def tool(self) -> str:
        return self.granted.tool

    @property
    def fields(self) -> Mapping[str, Any]:
        """All of what may run, by the names of the API."""
        return self.granted.fields

    @property
    def command(self) -> str:
        return str(self._get_field("command"))

    @property
    def arguments(self) -> dict[str, Any]:
        return dict(self._get_field("arguments"))

    @property
    def file_path(self) -> str:
        return str(self._get_field("file_path"))

    @property
    def content(self) -> str:
        return str(self._get_field("content"))

    @property
    def edits(self) -> Sequence[Mapping[str, Any]]:
        return list(self._get_field("edits"))

    @property
    def amended(self) -> bool:
        """A person changed it: what was asked for must not run."""
        return self.granted.amended

    @property
    def ruling(self) -> Ruling | None:
        return self.granted.ruling

    @property
    def note(self) -> str:
        """What a person wrote with their approval; empty where nobody was asked."""
        return self.granted.ruling.note if self.granted.ruling else ""

    @property
    def findings(self) -> Sequence[CallFinding]:
        return self.granted.answer.findings if self.granted.answer else ()

    @property
    def preview(self) -> Preview | None:
        return self.granted.answer.preview if self.granted.answer else None

    @property
    def replayed(self) -> bool:
        """The result is stored: take `output`, and run nothing."""
        return self.granted.answer is not None and self.granted.answer.replayed

    @property
    def output(self) -> Any:
        return self.granted.answer.output if self.granted.answer else None

    def get_duration_ms(self) -> int:
        return round((self.run.connection.clock() - self._began) * 1000)

    def _get_field(self, name: str) -> Any:
        if name not in self.granted.fields:
            raise AttributeError(f"A call of kind {self.kind} has no {name}.")
        return self.granted.fields[name]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.kind} {self.tool} {self.id}>"


def result(
    call: CallCore,
    *,
    ok: bool = True,
    output: Any = None,
    duration_ms: int | None = None,
    tokens: int | None = None,
    cost_usd: Money | None = None,
    usage: object = None,
) -> Flow[Settled]:
    """Report the call's result. `output` may be any JSON; the duration is measured.

    `usage` is what a model library gives of what the call used of a model: tokens and
    cost are read from it.

    After Unreachable it is kept: it goes out with the next call, or when it is reported again.
    """
    if call.replayed:
        raise CheckrailError("The result was stored already: nothing had to run.")
    kept = call.report
    if kept is None or kept not in call.run.backlog.results:
        usages = () if usage is None else read_usage(usage)
        used = sum(each.tokens for each in usages)
        spent_ms = call.get_duration_ms() if duration_ms is None else duration_ms
        body = build_result_body(
            ok=ok,
            output=output,
            duration_ms=spent_ms,
            tokens=used if tokens is None else tokens,
            cost_usd=0 if cost_usd is None else cost_usd,
        )
        # Before it is sent: a call that succeeded is never reported as failed afterwards.
        kept = call.report = CallResult(
            call.tool,
            build_result_request(call.run, call.id, body),
            unpriced=usages if cost_usd is None else (),
        )
        call.run.timer.exclude(spent_ms / 1000)
    return (yield from report_result(call.run, kept))


def result_or_keep(
    call: CallCore, *, ok: bool = True, output: Any = None
) -> Flow[None]:
    """The same, but an outage keeps the result instead of raising."""
    try:
        yield from result(call, ok=ok, output=output)
    except Unreachable as trouble:
        logger.warning(
            "The result of %s is kept, and sent with the next call: %s",
            call.tool,
            trouble,
        )


def report_end(call: CallCore, error: BaseException | None) -> Flow[None]:
    """At the end of the with-block, report the result unless that was done."""
    if call.report is not None or call.replayed:
        return
    if error is None:
        yield from result_or_keep(call)
        return
    run, spent_ms = call.run, call.get_duration_ms()
    failure = {
        "ok": False,
        "output": shorten(f"{type(error).__name__}: {error}"),
        "duration_ms": spent_ms,
    }
    run.timer.exclude(spent_ms / 1000)
    call.report = CallResult(call.tool, build_result_request(run, call.id, failure))
    try:
        yield from report_result(
            run, call.report, patience=run.connection.ending_patience
        )
    except CheckrailError as trouble:
        # The error itself is on its way to the caller: it must not be held up or hidden.
        logger.warning(
            "The failure of %s could not be reported yet: %s", call.tool, trouble
        )


def shorten(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode().replace("\0", "�")
    if len(clean) <= OUTPUT_LIMIT:
        return clean
    return f"{clean[:OUTPUT_LIMIT]} … ({len(clean)} characters)"


def pack_output(value: object) -> Any:
    """A function's result as JSON, marked where it is not the very same value."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
        faithful = len(text) <= OUTPUT_LIMIT and _is_same(
            json.loads(text), value, DEPTH
        )
    except (TypeError, ValueError, RecursionError):
        faithful = False
    return value if faithful else {REPR_KEY: shorten(repr(value))}


def _is_same(read: object, value: object, depth: int) -> bool:
    """Equal and of the same kinds all the way down (a tuple is no list), and such as
    the server takes."""
    if type(read) is not type(value) or depth == 0:
        return False
    if isinstance(read, dict) and isinstance(value, dict):
        return read.keys() == value.keys() and all(
            "\0" not in name and _is_same(read[name], value[name], depth - 1)
            for name in read
        )
    if isinstance(read, list) and isinstance(value, list):
        return len(read) == len(value) and all(
            _is_same(one, other, depth - 1)
            for one, other in zip(read, value, strict=True)
        )
    if isinstance(read, str):
        return "\0" not in read
    return not isinstance(read, int) or abs(read) <= LARGEST
