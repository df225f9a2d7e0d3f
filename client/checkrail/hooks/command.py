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

from checkrail.agent_session import VARIABLE, build_mark
from checkrail.hooks import locations, transcripts
from checkrail.hooks.events import (
    EVENTS,
    HOSTS,
    OUTAGE_SECONDS,
    OUTAGE_SECONDS_AT,
    WAIT_SECONDS,
    WAIT_SECONDS_AT,
    HookResult,
    build_failure,
    build_pass,
)
from checkrail.hooks.sending import HookRequest, NoAnswer, send_event

# Where tokens are told; the other events are answered without a look at them.
WITH_TOKENS = frozenset(
    {"PostToolUse", "PostToolUseFailure", "Stop", "SubagentStop", "SessionEnd"}
)
KEPT_TEXT = 4_000
KEPT_ITEMS = 50


def answer(argv: Sequence[str]) -> int:
    options = _parse_options(argv)
    try:
        ending = _answer_event(options)
    except NoAnswer as error:
        ending = _fail(options, str(error))
    except Exception as error:  # whatever it is, it must not let the host go on
        ending = _fail(options, f"the hook failed, {type(error).__name__}: {error}")
    sys.stdout.write(ending.out + "\n" if ending.out else "")
    sys.stderr.write(ending.err + "\n" if ending.err else "")
    return ending.code


def _fail(options: Namespace, reason: str) -> HookResult:
    return build_pass(reason) if options.open else build_failure(options.event, reason)


def _answer_event(options: Namespace) -> HookResult:
    event = _read_event()
    if options.event == "SessionStart":
        _mark_environment(options.host, event)
    used = _count_tokens(options, event)
    own: dict[str, Any] = {"tokens": used.tokens}
    if used.usage:
        own["usage"] = used.usage
    if _is_headless(options, event):
        own["headless"] = True
    call = HookRequest(
        url=locations.get_url(options.url),
        key=locations.get_key(),
        host=options.host,
        event=options.event,
        query=_build_query(options),
        body=json.dumps({**_shorten_event(event), "checkrail": own}).encode(),
        wait=_get_wait(options),
        outage=_get_outage(options),
    )
    try:
        return HookResult(0, out=json.dumps(send_event(call)))
    except NoAnswer:
        used.undo()
        raise


def _mark_environment(host: str, event: dict[str, Any]) -> None:
    """Every command of the session knows then that an agent has started it."""
    path = os.environ.get("CLAUDE_ENV_FILE")
    if not path:
        return
    mark = build_mark(host, event.get("session_id", ""))
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"export {VARIABLE}={mark}\n")
    except OSError as error:
        sys.stderr.write(f"Checkrail: the session is not marked: {error}\n")


def _count_tokens(options: Namespace, event: dict[str, Any]) -> transcripts.TokenUse:
    """Without a place to keep how far it was read, nothing is counted, and this said."""
    try:
        if options.event in WITH_TOKENS:
            return transcripts.count_new_tokens(options.host, event)
        if options.event in {"SessionStart", "UserPromptSubmit"}:
            transcripts.skip_earlier_lines(options.host, event)
    except OSError as error:
        sys.stderr.write(f"Checkrail: tokens are not counted: {error}\n")
    return transcripts.TokenUse()


def _read_event() -> dict[str, Any]:
    try:
        event = json.loads(sys.stdin.buffer.read())
    except ValueError as error:
        raise NoAnswer(f"the host's event is no JSON: {error}") from None
    if not isinstance(event, dict):
        raise NoAnswer("the host's event is no JSON object")
    return event


def _get_wait(options: Namespace) -> float:
    longest: float = WAIT_SECONDS_AT.get(options.event, WAIT_SECONDS)
    if options.wait_s is None:
        return longest
    return float(options.wait_s) if longest == WAIT_SECONDS else longest


def _get_outage(options: Namespace) -> float:
    if options.outage_s is not None:
        return float(options.outage_s)
    return OUTAGE_SECONDS_AT.get(options.event, OUTAGE_SECONDS)


def _build_query(options: Namespace) -> dict[str, str]:
    query = {}
    if options.on_allow:
        query["on_allow"] = options.on_allow
    if options.policy:
        query["policy"] = options.policy
    return query


def _is_headless(options: Namespace, event: Mapping[str, Any]) -> bool:
    """Nobody sits there: said by whoever set it up, or by the host itself."""
    if options.headless:
        return True
    if options.host == "codex":
        return transcripts.is_codex_headless(event)
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED")
    if attended is not None:
        return attended == "0"
    return os.environ.get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk")


def _shorten_event(event: dict[str, Any]) -> dict[str, Any]:
    """A result may be an image: the server keeps its beginning and its end only."""
    if "tool_response" not in event:
        return event
    return {**event, "tool_response": _shorten(event["tool_response"])}


def _shorten(value: Any) -> Any:
    if isinstance(value, str) and len(value) > KEPT_TEXT:
        half = KEPT_TEXT // 2
        gap = len(value) - KEPT_TEXT
        return f"{value[:half]}\n… {gap} characters left out …\n{value[-half:]}"
    if isinstance(value, list):
        return [_shorten(item) for item in value[:KEPT_ITEMS]]
    if isinstance(value, dict):
        return {name: _shorten(item) for name, item in value.items()}
    return value


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """A hook that is set up wrongly holds as well."""
        sys.stderr.write(f"Checkrail: the hook is set up wrongly: {message}\n")
        sys.exit(2)


def _parse_options(argv: Sequence[str]) -> Namespace:
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
