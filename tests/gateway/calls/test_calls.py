"""A call is judged before it runs, claimed once, and settled after."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from guidance.core.canonical import to_canonical_json
from ledger.models import Run
from reviews.models import Grant
from tests.gateway.calls.calls import (
    ask,
    claim,
    command,
    gates,
    rule,
    settle,
    slug,
    tool,
)
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.rows import each_row
from tests.support.waiting import stand_at


def test_a_harmless_command_is_allowed_and_may_run_once(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls -la")
    assert call["decision"] == "allow"
    assert call["findings"] == []
    assert call["review"] is None
    assert call["grant"]
    first = claim(agent, run, call)
    assert first.status_code == 200, first.text
    assert first.json()["call"] == {"command": "ls -la"}
    again = claim(agent, run, call)
    assert again.status_code == 409
    assert slug(again) == "grant-spent"


def test_the_digest_can_be_computed_by_the_agent(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls -la", arguments={"command": "ls -la"})
    document = {
        "run": run,
        "kind": "command",
        "tool": "Bash",
        "command": "ls -la",
        "arguments": {"command": "ls -la"},
    }
    told = hashlib.sha256(to_canonical_json(document).encode()).hexdigest()
    assert call["digest"] == f"sha256:{told}"


def test_a_dangerous_command_waits_for_a_person(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    assert call["decision"] == "require-confirmation"
    assert call["grant"] is None
    assert call["review"]["kind"] == "confirmation"
    (finding,) = call["findings"]
    assert finding["gate"] == "destructive"
    assert "Rollback" in finding["remediation"]
    early = claim(agent, run, call)
    assert (early.status_code, slug(early)) == (409, "review-open")
    assert early.json()["review"]["id"] == call["review"]["id"]

    assert rule(reviewer, call, "approve").status_code == 200
    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["run_status"] == "running"
    assert decision["ruling"]["action"] == "approve"
    assert decision["ruling"]["grant"]
    assert claim(agent, run, call).status_code == 200


def test_a_denied_call_never_runs_and_its_reason_reaches_the_agent(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    rule(reviewer, call, "deny", note="Use git clean -n first")
    decision = agent.get(f"/runs/{run}/decision").json()
    assert decision["ruling"]["note"] == "Use git clean -n first"
    assert decision["ruling"]["grant"] is None
    refused = claim(agent, run, call)
    assert refused.status_code == 403
    assert settle(agent, run, call).status_code == 403
    assert agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"] == 0


def test_abort_ends_the_run_and_its_calls(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    harmless, call = command(agent, run, "ls"), command(agent, run)
    rule(reviewer, call, "abort", note="Not here")
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"
    for of in (harmless, call):
        late = claim(agent, run, of)
        assert (late.status_code, slug(late)) == (409, "run-closed")


def test_an_approval_for_one_digest_never_serves_another(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """M95 and M97: neither another call with equal content, nor another content."""
    run = start_run(agent)
    first, second = command(agent, run), command(agent, run)
    other = command(agent, run, "rm -rf /srv")
    assert first["digest"] == second["digest"] != other["digest"]
    rule(reviewer, first, "approve")
    assert slug(claim(agent, run, second)) == "review-open"
    assert slug(claim(agent, run, first, other["digest"])) == "grant-mismatch"
    assert claim(agent, run, first).status_code == 200


def test_another_runs_grant_is_not_ours(agent: httpx.Client) -> None:
    one, other = start_run(agent), start_run(agent)
    call = command(agent, one, "ls")
    assert claim(agent, other, call).status_code == 404
    assert settle(agent, other, call).status_code == 404


def test_a_grant_ends_with_its_time(agent: httpx.Client, project: Project) -> None:
    make_policy("short", project=project, tools={"grant_expires_s": 60})
    run = start_run(agent, policy="short")
    first, second = (command(agent, run, "ls") for _ in range(2))
    rows = [Grant.objects.get(call__code=each["id"]) for each in (first, second)]
    assert [each.expires_at - each.issued_at for each in rows] == (
        [timedelta(seconds=60)] * 2
    )
    with stand_at(rows[0].expires_at - timedelta(microseconds=1)):
        assert claim(agent, run, first).status_code == 200
    with stand_at(rows[1].expires_at):
        for late in (claim(agent, run, second), settle(agent, run, second)):
            assert (late.status_code, slug(late)) == (410, "grant-expired")


def test_a_result_after_its_time_is_refused_though_nobody_claimed(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    Grant.objects.filter(call__code=call["id"]).update(expires_at=timezone.now())
    for _ in range(2):
        late = settle(agent, run, call)
        assert (late.status_code, slug(late)) == (410, "grant-expired")


def test_calls_go_on_beside_a_confirmation_but_not_beside_a_pause(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    command(agent, run)
    assert command(agent, run, "ls")["decision"] == "allow"
    refused = agent.post(f"/runs/{run}/steps", json=step(1))
    assert slug(refused) == "run-paused"

    paused = start_run(agent)
    granted = command(agent, paused, "ls")
    pause_at_once(agent, paused)
    body = {"kind": "command", "command": "ls"}
    answer = agent.post(f"/runs/{paused}/tool-calls", json=body)
    assert (answer.status_code, slug(answer)) == (409, "run-paused")
    assert slug(claim(agent, paused, granted)) == "run-paused"


def test_a_run_does_not_flood_its_reviewers(agent: httpx.Client) -> None:
    """M103: a person is asked about twenty calls of one run, and then no more."""
    run = start_run(agent)
    for number in range(20):
        command(agent, run, f"rm -rf build/{number}")
    body = {"kind": "command", "command": "rm -rf build/20"}
    answer = agent.post(f"/runs/{run}/tool-calls", json=body)
    assert (answer.status_code, slug(answer)) == (409, "run-paused")
    assert answer.json()["review"]["kind"] == "confirmation"


def test_the_result_settles_the_budget(agent: httpx.Client) -> None:
    run = start_run(agent, budget={"tool_calls": 5, "tokens": 1000})
    call = command(agent, run, "ls")
    assert call["budget_remaining"]["tool_calls"] == 4
    claim(agent, run, call)
    told = settle(agent, run, call, tokens=300, duration_ms=20_000, cost_usd="0.5")
    assert told.status_code == 200, told.text
    assert told.json()["budget_remaining"]["tokens"] == 700
    budget = agent.get(f"/runs/{run}").json()["budget"]
    assert budget["tool_calls"]["used"] == 1
    assert budget["time_ms"]["used"] == 20_000
    assert budget["cost_usd"]["used"] == "0.50"


def test_a_result_is_told_once(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    first = settle(agent, run, call, output="a.py", tokens=10)
    same = settle(agent, run, call, output="a.py", tokens=10)
    assert same.status_code == 200
    assert same.headers["Idempotency-Replayed"] == "true"
    assert same.json()["receipt"] == first.json()["receipt"]
    other = settle(agent, run, call, output="b.py", tokens=10)
    assert (other.status_code, slug(other)) == (409, "grant-spent")
    assert agent.get(f"/runs/{run}").json()["budget"]["tokens"]["used"] == 10


def test_a_result_without_a_claim_spends_the_grant(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls")
    assert settle(agent, run, call).status_code == 200
    assert slug(claim(agent, run, call)) == "grant-spent"


def test_a_steps_own_calls_are_not_counted_twice(agent: httpx.Client) -> None:
    """Two of its three calls went through the gateway; the third went around it."""
    run = start_run(agent)
    command(agent, run, "ls")
    command(agent, run, "pwd")
    agent.post(f"/runs/{run}/steps", json=step(1, tool_calls=3))
    assert agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"] == 3
    agent.post(f"/runs/{run}/steps", json=step(2, tool_calls=1))
    assert agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"] == 4


def test_findings_on_calls_weigh_on_coherence(agent: httpx.Client) -> None:
    run = start_run(agent)
    for number in range(1, 6):
        ask(agent, run, kind="tool", tool="Write", arguments_json="{")
        agent.post(f"/runs/{run}/steps", json=step(number))
    last = agent.post(f"/runs/{run}/steps", json=step(6)).json()
    assert last["metrics"]["coherence_source"] == "computed"
    # Five blocked calls in six steps: 0.4 * (1 - 5/6) + 0.3 + 0.3.
    assert last["metrics"]["coherence"] == pytest.approx(0.4 / 6 + 0.6)


def test_failed_results_are_failed_calls(agent: httpx.Client) -> None:
    run = start_run(agent)
    for number in range(1, 6):
        settle(agent, run, command(agent, run, "make test"), ok=False)
        body = {"number": number, "tokens": 10, "tool_calls": 1}
        last = agent.post(f"/runs/{run}/steps", json=body).json()
    assert last["metrics"]["uncertainty"] == 1.0
    assert last["decision"] == "pause"


def test_broken_arguments_block_with_line_and_column(agent: httpx.Client) -> None:
    run = start_run(agent)
    text = '{"path": "a.py", "content": "x'
    call = ask(agent, run, kind="tool", tool="Write", arguments_json=text)
    assert call["decision"] == "block"
    (finding,) = call["findings"]
    assert finding["gate"] == "arguments"
    assert "line 1, column" in finding["message"]
    assert finding["details"]["args_truncated"] is True
    assert claim(agent, run, call).status_code == 403


def test_two_different_commands_in_one_call_are_blocked(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, "ls", arguments={"command": "rm -rf /"})
    assert call["decision"] == "block"
    assert gates(call) == ["arguments", "destructive"]


def test_sql_and_commands_are_found_in_a_tools_arguments(agent: httpx.Client) -> None:
    run = start_run(agent)
    sql = tool(agent, run, "mcp__db__query", sql="DROP TABLE users")
    assert sql["decision"] == "require-confirmation"
    assert sql["findings"][0]["details"]["argument"] == "/arguments/sql"
    shell = tool(agent, run, "Bash", command="rm -rf /")
    assert shell["decision"] == "require-confirmation"


def test_a_large_edit_warns_and_may_run(agent: httpx.Client) -> None:
    run = start_run(agent)
    body = {"kind": "edit", "tool": "Edit", "file_path": "a.py", "content": "x\n"}
    told = ask(agent, run, **body, diff_lines=320)
    assert (told["decision"], gates(told)) == ("warn", ["diff_size"])
    assert told["grant"]
    counted = ask(agent, run, **{**body, "content": "x\n" * 301})
    assert counted["decision"] == "warn"
    assert ask(agent, run, **body)["decision"] == "allow"


def test_several_edits_are_planned_and_previewed(agent: httpx.Client) -> None:
    run = start_run(agent)
    body = {"kind": "multi_edit", "file_path": "a.py", "original": "a\nb\n"}
    good = ask(agent, run, **body, edits=[{"old": "a", "new": "c"}])
    assert good["decision"] == "allow"
    result = hashlib.sha256(b"c\nb\n").hexdigest()
    assert good["preview"]["result_sha256"] == result
    assert good["preview"]["matches"] == [
        {"edit": 0, "line": 1, "column": 1, "layer": "exact"}
    ]
    bad = ask(agent, run, **body, edits=[{"old": "z", "new": "c"}])
    assert (bad["decision"], gates(bad)) == ("block", ["multi_edit"])
    assert bad["preview"] is None


def test_a_call_can_be_looked_up_again(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    at = f"/runs/{run}/tool-calls/{call['id']}"
    assert agent.get(at).json()["state"] == "waiting"
    rule(reviewer, call, "approve")
    assert agent.get(at).json()["state"] == "granted"
    claim(agent, run, call)
    assert agent.get(at).json()["state"] == "claimed"
    settle(agent, run, call, ok=False)
    stands = agent.get(at).json()
    assert (stands["state"], stands["ok"]) == ("settled", False)


def test_the_same_key_gives_the_same_answer(agent: httpx.Client) -> None:
    run = start_run(agent)
    body = {"kind": "command", "command": "ls"}
    first, again = (
        agent.post(
            f"/runs/{run}/tool-calls", json=body, headers={"Idempotency-Key": "k1"}
        )
        for _ in range(2)
    )
    assert first.content == again.content
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"] == 1


@each_row(
    "body",
    [
        {"kind": "command"},
        {"kind": "command", "command": ""},
        {"kind": "command", "command": "ls", "extra": 1},
        {"kind": "shell", "command": "ls"},
        {"command": "ls"},
        {"kind": "tool", "arguments": {}},
        {"kind": "tool", "tool": "Bash\u202e", "arguments": {}},
        {"kind": "tool", "tool": "x" * 300, "arguments": {}},
        {"kind": "tool", "tool": "T", "arguments": {}, "arguments_json": "{}"},
        {"kind": "tool", "tool": "T", "arguments": []},
        {"kind": "edit", "file_path": "a", "content": "x", "diff_lines": -1},
        {"kind": "edit", "file_path": "a", "content": "x", "diff_lines": 1.0},
        {"kind": "multi_edit", "file_path": "a", "original": "x", "edits": []},
    ],
)
def test_a_body_that_is_no_call_is_refused(
    agent: httpx.Client, body: dict[str, object]
) -> None:
    run = start_run(agent)
    answer = agent.post(f"/runs/{run}/tool-calls", json=body)
    assert (answer.status_code, slug(answer)) == (422, "invalid"), answer.text
    assert answer.json()["errors"]


@each_row("figure", ["NaN", "-1", "1e999", '"5"', "1.5", "true"])
def test_a_result_with_an_impossible_figure_is_refused(
    agent: httpx.Client, figure: str
) -> None:
    """GW-44: such a duration once poisoned the time budget for good."""
    run = start_run(agent)
    call = command(agent, run, "ls")
    answer = agent.post(
        f"/runs/{run}/tool-calls/{call['id']}/result",
        content=f'{{"ok": true, "duration_ms": {figure}}}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code in {400, 422}
    assert Run.objects.get(code=run).time_ms_used == 0


def test_every_call_stands_in_the_ledger(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    rule(reviewer, call, "approve")
    claim(agent, run, call)
    settle(agent, run, call, output={"removed": 3})
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    entries = [json.loads(line) for line in lines]
    assert [entry["type"] for entry in entries] == [
        "run.started",
        "call.judged",
        "review.opened",
        "review.ruled",
        "call.claimed",
        "call.settled",
    ]
    assert entries[1]["hash"] == call["receipt"]["hash"]
    assert agent.get(f"/runs/{run}/verify").json()["ok"] is True
