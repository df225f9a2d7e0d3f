"""The command hook: a host's event from stdin to the server, its answer to stdout.

It fails closed: whatever goes wrong, the host is kept from going on, unless `--open` was
chosen.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from checkrail.hooks import locations, transcripts
from checkrail.hooks.events import (
    EVENTS,
    HELD,
    HOSTS,
    OUTAGE,
    OUTAGE_AT,
    PATIENCE,
    Ending,
    failed,
    passed,
)
from checkrail.hooks.sending import Call, NoAnswer, posted

# Where tokens are told; the other events are answered without a look at them.
SPENDING = frozenset(
    {"PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "SessionEnd"}
)
KEPT_TEXT = 4_000
KEPT_ITEMS = 50


def answer(argv: Sequence[str]) -> int:
    options = _options(argv)
    try:
        ending = _answered(options)
    except NoAnswer as error:
        ending = _closed(options, str(error))
    except Exception as error:  # whatever it is, it must not let the host go on
        ending = _closed(options, f"the hook failed, {type(error).__name__}: {error}")
    sys.stdout.write(ending.out + "\n" if ending.out else "")
    sys.stderr.write(ending.err + "\n" if ending.err else "")
    return ending.code


def _closed(options: Namespace, reason: str) -> Ending:
    return passed(reason) if options.open else failed(options.event, reason)


def _answered(options: Namespace) -> Ending:
    event = _read_event()
    used = _used(options, event)
    own: dict[str, Any] = {"tokens": used.tokens}
    if _headless(options, event):
        own["headless"] = True
    call = Call(
        url=locations.url(options.url),
        key=locations.key(),
        host=options.host,
        event=options.event,
        query=_query(options),
        body=json.dumps({**_shortened(event), "checkrail": own}).encode(),
        wait=_wait(options),
        outage=_outage(options),
    )
    try:
        return Ending(0, out=json.dumps(posted(call)))
    except NoAnswer:
        used.give_back()
        raise


def _used(options: Namespace, event: dict[str, Any]) -> transcripts.Used:
    """Without a place to keep how far it was read, nothing is counted, and this said."""
    try:
        if options.event in SPENDING:
            return transcripts.spent(options.host, event)
        if options.event in {"SessionStart", "UserPromptSubmit"}:
            transcripts.begin(options.host, event)
    except OSError as error:
        sys.stderr.write(f"Checkrail: tokens are not counted: {error}\n")
    return transcripts.Used()


def _read_event() -> dict[str, Any]:
    try:
        event = json.loads(sys.stdin.buffer.read())
    except ValueError as error:
        raise NoAnswer(f"the host's event is no JSON: {error}") from None
    if not isinstance(event, dict):
        raise NoAnswer("the host's event is no JSON object")
    return event


def _wait(options: Namespace) -> float:
    longest: float = PATIENCE.get(options.event, HELD)
    if options.wait_s is None:
        return longest
    return float(options.wait_s) if longest == HELD else longest


def _outage(options: Namespace) -> float:
    if options.outage_s is not None:
        return float(options.outage_s)
    return OUTAGE_AT.get(options.event, OUTAGE)


def _query(options: Namespace) -> dict[str, str]:
    query = {}
    if options.on_allow:
        query["on_allow"] = options.on_allow
    if options.policy:
        query["policy"] = options.policy
    return query


def _headless(options: Namespace, event: Mapping[str, Any]) -> bool:
    """Nobody sits there: said by whoever set it up, or by the host itself."""
    if options.headless:
        return True
    if options.host == "codex":
        return transcripts.codex_is_headless(event)
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED")
    if attended is not None:
        return attended == "0"
    return os.environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _shortened(event: dict[str, Any]) -> dict[str, Any]:
    """A result may be an image: the server keeps its beginning and its end only."""
    if "tool_response" not in event:
        return event
    return {**event, "tool_response": _cut(event["tool_response"])}


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > KEPT_TEXT:
        half = KEPT_TEXT // 2
        gap = len(value) - KEPT_TEXT
        return f"{value[:half]}\n… {gap} characters left out …\n{value[-half:]}"
    if isinstance(value, list):
        return [_cut(item) for item in value[:KEPT_ITEMS]]
    if isinstance(value, dict):
        return {name: _cut(item) for name, item in value.items()}
    return value


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """A hook that is set up wrongly holds as well."""
        sys.stderr.write(f"Checkrail: the hook is set up wrongly: {message}\n")
        sys.exit(2)


def _options(argv: Sequence[str]) -> Namespace:
    parser = _Parser(prog="checkrail hook", description="Answer one event of a host.")
    parser.add_argument("host", choices=HOSTS)
    parser.add_argument("event", choices=sorted({*sum(EVENTS.values(), ())}))
    parser.add_argument("--url", help="the server; else CHECKRAIL_URL")
    parser.add_argument("--wait-s", type=int, help="hold a call for so long, 570")
    parser.add_argument(
        "--outage-s", type=int, help="try an unreachable server for so long, 60"
    )
    parser.add_argument("--on-allow", choices=["none", "allow"])
    parser.add_argument("--policy", help="of the runs that begin")
    parser.add_argument("--headless", action="store_true", help="nobody sits there")
    parser.add_argument(
        "--open",
        action="store_true",
        help="not advised: go on ungoverned when the server cannot be reached",
    )
    return parser.parse_args(argv)
