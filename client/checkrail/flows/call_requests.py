"""Single requests about tool calls, for which nothing is waited, and the bodies of calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checkrail.answers import CallAnswer, CallStanding, Claim, Settled
from checkrail.flows.run_core import RunCore
from checkrail.money import Money, format_money
from checkrail.transport.effects import Flow, Request, get, post, quote_part
from checkrail.transport.retry import send_request


def judge_call(
    run: RunCore,
    kind: str,
    *,
    tool: str | None = None,
    command: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    arguments_json: str | None = None,
    file_path: str | None = None,
    content: str | None = None,
    diff_lines: int | None = None,
    original: str | None = None,
    edits: Sequence[Mapping[str, Any]] | None = None,
    confirm: bool = False,
) -> Flow[CallAnswer]:
    """Ask about a call, and wait for nothing: the decision is the caller's to obey."""
    fields = {
        "kind": kind,
        "tool": tool,
        "command": command,
        "arguments": arguments,
        "arguments_json": arguments_json,
        "file_path": file_path,
        "content": content,
        "diff_lines": diff_lines,
        "original": original,
        "edits": edits,
        "confirm": confirm or None,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    answer = yield from send_request(
        run.connection, CallAnswer, build_judge_request(run, given)
    )
    run.store_notes(answer.notes)
    return answer


def claim_call(run: RunCore, call_id: str, digest: str) -> Flow[Claim]:
    """Spend the grant: `call` in the answer may run now, once."""
    return (
        yield from send_request(
            run.connection, Claim, build_claim_request(run, call_id, digest)
        )
    )


def call_standing(run: RunCore, call_id: str) -> Flow[CallStanding]:
    """Where a call is on its way, and what may run."""
    request = get(run.build_path("tool-calls", quote_part(call_id)))
    return (yield from send_request(run.connection, CallStanding, request))


def settle_call(
    run: RunCore,
    call_id: str,
    *,
    ok: bool,
    output: Any = None,
    duration_ms: int = 0,
    tokens: int = 0,
    cost_usd: Money = 0,
) -> Flow[Settled]:
    """Report the result of a call; its amounts are added to the run's."""
    body = build_result_body(
        ok=ok,
        output=output,
        duration_ms=duration_ms,
        tokens=tokens,
        cost_usd=cost_usd,
    )
    return (
        yield from send_request(
            run.connection, Settled, build_result_request(run, call_id, body)
        )
    )


def build_result_body(
    *, ok: bool, output: Any, duration_ms: int, tokens: int, cost_usd: Money
) -> dict[str, Any]:
    return {
        "ok": ok,
        "output": output,
        "duration_ms": duration_ms,
        "tokens": tokens,
        "cost_usd": format_money(cost_usd),
    }


def build_judge_request(run: RunCore, fields: Mapping[str, Any]) -> Request:
    return post(run.build_path("tool-calls"), fields)


def build_claim_request(run: RunCore, call_id: str, digest: str) -> Request:
    return post(
        run.build_path("tool-calls", quote_part(call_id), "claim"), {"digest": digest}
    )


def build_result_request(
    run: RunCore, call_id: str, body: Mapping[str, Any]
) -> Request:
    return post(run.build_path("tool-calls", quote_part(call_id), "result"), body)


def build_command_fields(
    command: str, *, tool: str = "Bash", arguments: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    more = {} if arguments is None else {"arguments": dict(arguments)}
    return {"kind": "command", "tool": tool, "command": command, **more}


def build_tool_fields(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    arguments_json: str | None = None,
) -> dict[str, Any]:
    if arguments_json is None:
        return {"kind": "tool", "tool": tool, "arguments": dict(arguments or {})}
    if arguments is not None:
        raise ValueError("Pass arguments or arguments_json, not both.")
    return {"kind": "tool", "tool": tool, "arguments_json": arguments_json}


def build_edit_fields(
    file_path: str, content: str, *, tool: str = "Edit", diff_lines: int | None = None
) -> dict[str, Any]:
    more = {} if diff_lines is None else {"diff_lines": diff_lines}
    named = {"kind": "edit", "tool": tool, "file_path": file_path}
    return {**named, "content": content, **more}


def build_multi_edit_fields(
    file_path: str,
    original: str,
    edits: Sequence[Mapping[str, Any]],
    *,
    tool: str = "MultiEdit",
) -> dict[str, Any]:
    named = {"kind": "multi_edit", "tool": tool, "file_path": file_path}
    return {**named, "original": original, "edits": [dict(edit) for edit in edits]}
