"""The plain doors for tool calls: one request each, nothing is waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checkrail.answers import CallAnswer, CallStanding, Claim, Settled
from checkrail.flows.run_core import RunCore
from checkrail.money import Money, money
from checkrail.transport.effects import Flow, Request, get, part, post
from checkrail.transport.retry import ask


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
    }
    told = {name: value for name, value in fields.items() if value is not None}
    return (yield from ask(run.link, CallAnswer, judging(run, told)))


def claim_call(run: RunCore, call_id: str, digest: str) -> Flow[Claim]:
    """Spend the grant: `call` in the answer may run now, once."""
    return (yield from ask(run.link, Claim, claiming(run, call_id, digest)))


def call_standing(run: RunCore, call_id: str) -> Flow[CallStanding]:
    """Where a call is on its way, and what may run."""
    request = get(run.path("tool-calls", part(call_id)))
    return (yield from ask(run.link, CallStanding, request))


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
    """Tell what came of a call; its amounts are added to the run's."""
    body = result_body(
        ok=ok,
        output=output,
        duration_ms=duration_ms,
        tokens=tokens,
        cost_usd=cost_usd,
    )
    return (yield from ask(run.link, Settled, settling(run, call_id, body)))


def result_body(
    *, ok: bool, output: Any, duration_ms: int, tokens: int, cost_usd: Money
) -> dict[str, Any]:
    return {
        "ok": ok,
        "output": output,
        "duration_ms": duration_ms,
        "tokens": tokens,
        "cost_usd": money(cost_usd),
    }


def judging(run: RunCore, fields: Mapping[str, Any]) -> Request:
    return post(run.path("tool-calls"), fields)


def claiming(run: RunCore, call_id: str, digest: str) -> Request:
    return post(run.path("tool-calls", part(call_id), "claim"), {"digest": digest})


def settling(run: RunCore, call_id: str, body: Mapping[str, Any]) -> Request:
    return post(run.path("tool-calls", part(call_id), "result"), body)
