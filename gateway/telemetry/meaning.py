"""What spans mean: which are steps of a run, and which one ends it.

After the GenAI conventions of OpenTelemetry, as of v1.41 (status: development).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gateway.schemas.runs import FinishIn, RunIn, StepIn
from gateway.telemetry.spans import BadSpan, Span
from ledger.chain import format_timestamp

B = TypeVar("B", bound=BaseModel)

_MODEL = frozenset({"chat", "text_completion", "generate_content", "embeddings"})
_TOOL = "execute_tool"
_AGENT = frozenset({"invoke_agent", "invoke_workflow"})
_KNOWN = frozenset({*_MODEL, _TOOL, *_AGENT})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_9999_NS = 253_370_764_800 * 10**9
_SAID_MAX = 4_000
_LABEL_MAX = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanReport:
    """What one span tells.

    `step` has no number yet: it gets one when it is stored. A span of an agent's whole
    work has an `outcome`, and a step only with what it used in all.
    """

    span: Span
    step: StepIn | None = None
    outcome: FinishIn | None = None

    def build_origin(self) -> dict[str, Any]:
        """Where it comes from, for the ledger: nothing in it is anybody's free text."""
        return {
            "trace_id": self.span.trace_id,
            "span_id": self.span.span_id,
            "started_at": _format_time(self.span.started_ns),
            "ended_at": _format_time(self.span.ended_ns),
        }


class Trace:
    """The spans of one trace in one request, in the order in which they ended."""

    def __init__(self, trace_id: str, spans: Iterable[Span]) -> None:
        self.trace_id = trace_id
        self.spans = sorted(spans, key=lambda span: span.ended_ns)
        self._by_id = {span.span_id: span for span in self.spans}
        self._above: dict[str, str | None] = {}

    @cached_property
    def telling(self) -> list[Span]:
        """Those that tell something of an agent."""
        return [span for span in self.spans if span.operation in _KNOWN]

    @property
    def conversation(self) -> str:
        return self._get_first("gen_ai.conversation.id")

    def build_run(self, *, parent: str | None) -> RunIn:
        """The run that these spans begin; raises BadSpan with what is wrong."""
        service = self._get_resource("service.name")
        agent = self._get_first("gen_ai.agent.name")
        labels = {
            "service": service,
            "agent": agent,
            "conversation": self.conversation,
            "trace": self.trace_id,
        }
        return _validate(
            RunIn,
            task=agent or service or "An agent",
            model=self._get_first("gen_ai.request.model")[:200],
            policy=self._get_resource("checkrail.policy") or "default",
            labels={name: text[:_LABEL_MAX] for name, text in labels.items() if text},
            parent_run=parent,
        )

    def find_above(self, span: Span) -> str | None:
        """The id of the span that will tell whether an agent stands above this one.

        Empty where none does, None where one does: an agent inside another ends no
        run. Spans are sent when they end, so what stands above may come later.
        """
        passed: list[str] = []
        while True:
            if span.span_id in self._above:
                found = self._above[span.span_id]
                break
            # Until more is known: spans that stand above each other have nobody above.
            self._above[span.span_id] = found = ""
            passed.append(span.span_id)
            if span.begins_here:
                break
            parent = self._by_id.get(span.parent_id)
            if parent is None or parent.operation:
                found = span.parent_id if parent is None else None
                break
            span = parent
        # Known to all on the way: many spans under a long line cost one walk.
        self._above.update(dict.fromkeys(passed, found))
        return found

    def _get_first(self, name: str) -> str:
        return next(filter(None, (span.get_text(name) for span in self.telling)), "")

    def _get_resource(self, name: str) -> str:
        values = (span.resource.get(name) for span in self.telling)
        return next((value for value in values if value and isinstance(value, str)), "")


def group_traces(spans: Iterable[Span]) -> Iterator[Trace]:
    """In the order in which they first come up."""
    found: dict[str, list[Span]] = {}
    for span in spans:
        found.setdefault(span.trace_id, []).append(span)
    for trace_id, members in found.items():
        yield Trace(trace_id, members)


def read_span(span: Span) -> SpanReport:
    """What a telling span tells; raises BadSpan with what is wrong."""
    tokens = _count_tokens(span)
    if span.operation in _MODEL:
        said = f"{span.operation} {span.get_text('gen_ai.request.model')}".strip()
        return SpanReport(span=span, step=_build_step(span, said=said, tokens=tokens))
    if span.operation == _TOOL:
        return SpanReport(span=span, step=_build_tool_step(span, tokens))
    said = span.name or span.operation
    return SpanReport(
        span=span,
        step=_build_step(span, said=said, tokens=tokens) if tokens else None,
        outcome=_validate(
            FinishIn,
            outcome="failed" if span.error else "completed",
            summary=_add_error(said, span),
        ),
    )


def _build_tool_step(span: Span, tokens: int) -> StepIn:
    tool = span.get_text("gen_ai.tool.name") or "a tool"
    arguments = span.get_text("gen_ai.tool.call.arguments")
    return _build_step(
        span,
        said=tool,
        tokens=tokens,
        tool_calls=1,
        failed_calls=1 if span.error else 0,
        signature=f"{tool}:{arguments}"[:_SAID_MAX] if arguments else None,
    )


def _build_step(span: Span, *, said: str, tokens: int, **more: Any) -> StepIn:
    return _validate(
        StepIn,
        number=1,
        tokens=tokens,
        **{"tool_calls": 0, **more},
        duration_ms=span.duration_ms,
        summary=_add_error(said, span),
    )


def _add_error(said: str, span: Span) -> str:
    failed = f", failed: {span.error}" if span.error else ""
    return f"{said}{failed}"[:_SAID_MAX]


def _count_tokens(span: Span) -> int:
    names = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens")
    amounts = [span.get_amount(name) for name in names]
    if min(amounts) < 0:
        raise BadSpan("A number of tokens is negative.")
    return sum(amounts)


def _validate(schema: type[B], **fields: Any) -> B:
    try:
        return schema(**fields)
    except ValidationError as error:
        (first, *_) = error.errors(include_url=False, include_input=False)
        where = ".".join(map(str, first["loc"]))
        raise BadSpan(f"{where}: {first['msg']}.") from None


def _format_time(nanoseconds: int) -> str | None:
    if not 0 < nanoseconds < _YEAR_9999_NS:
        return None
    return format_timestamp(_EPOCH + timedelta(microseconds=nanoseconds // 1_000))
