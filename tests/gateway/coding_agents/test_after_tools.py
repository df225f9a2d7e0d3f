"""PostToolUse: what came of a call, one step, and what the run's gates say to it."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from accounts.models import Project
from gateway.use_cases.outcomes.seen import load_seen
from guidance.core.outcomes import Report
from guidance.core.outcomes.evaluators.forbidden_commands import judge_commands
from guidance.core.outcomes.facts import OutcomeFacts
from guidance.selectors import get_policy
from ledger.models import Entry
from ledger.state import build_state
from ledger.verification.replay import replay_run
from reviews.models import Review, ToolCall
from tests.gateway.coding_agents.hosts import SOON, Host, decision, load_recorded
from tests.support.builders import make_policy
from tests.support.people import rule

pytestmark = pytest.mark.once(
    "forms of hooks; the calls behind them are repeated in tests/gateway/calls"
)

ASKED = "rm -rf build"
# A person is asked when the same is done twice in a row.
WARY = {"continue": {"repeat_limit": 2}}


def entries(host: Host, kind: str) -> list[dict[str, Any]]:
    rows = Entry.objects.filter(run=host.run, type=kind).order_by("seq")
    return [json.loads(row.payload) for row in rows]


PRICES = {
    "claude-*": {
        "input_usd": "3.00",
        "output_usd": "15.00",
        "cached_input_usd": "0.30",
        "cache_write_usd": "3.75",
    }
}


def test_tokens_cost_what_the_policy_says_and_nothing_is_made_up(
    claude: Host, project: Project
) -> None:
    make_policy("default", project=project, prices={"models": PRICES})
    large = {
        "model": "claude-large",
        "input_tokens": 1_000,
        "cached_input_tokens": 10_000,
        "cache_write_tokens": 2_000,
        "output_tokens": 500,
    }
    used = {"tokens": 3_500, "usage": [large, {**large, "model": "elsewhere"}]}
    claude.after("ls", checkrail=used)
    claude.after("ls -l", "toolu_2", checkrail={**used, "cost_usd": "0.50"})
    claude.after("ls -a", "toolu_3", checkrail={"tokens": 7})
    written = entries(claude, "step.judged")
    costs = [entry["report"]["cost_micros"] for entry in written]
    assert costs == [21_000, 500_000, 0]
    assert written[0]["usage"] == used["usage"]
    assert "usage" not in written[2]
    assert replay_run(claude.run).difference is None
    assert claude.run.cost_micros_used == 521_000


def test_a_cost_beyond_all_counting_holds_the_host(
    claude: Host, project: Project
) -> None:
    dear = {"input_usd": "1000000.00", "output_usd": "1000000.00"}
    make_policy("default", project=project, prices={"models": {"*": dear}})
    used = {"usage": [{"model": "a", "input_tokens": 10**12}]}
    claude.before("ls")
    answer = claude.send("PostToolUse-Bash", checkrail=used)
    assert "more than can be counted" in answer.text
    assert claude.run.steps == 0


def test_a_result_is_kept_and_a_step_reported(claude: Host) -> None:
    claude.before("pytest -k login")
    used = {"tokens": 1830, "cost_usd": "0.0121"}
    told = {"stdout": "x" * 5000, "stderr": "", "interrupted": False}
    answer = claude.after("pytest -k login", tool_response=told, checkrail=used)

    assert answer == {}
    call = ToolCall.objects.get(run=claude.run)
    assert call.ok is True
    assert len(json.loads(call.output or "")) < 2_100
    step = entries(claude, "step.judged")[0]["report"]
    assert step["summary"] == "Bash: pytest -k login"
    assert step["signature"].startswith("Bash:")
    assert (step["tokens"], step["cost_micros"]) == (1830, 12100)
    run = claude.run
    assert (run.tokens_used, run.tool_calls_used, run.time_ms_used) == (1830, 1, 77)
    # The same event again, after a lost answer, is no second step.
    claude.after("pytest -k login", tool_response=told, checkrail=used)
    assert claude.run.steps == 1

    failure = load_recorded("claude-code", "PostToolUseFailure-Bash")
    claude.before(failure["tool_input"]["command"], "toolu_2")
    claude.fire("PostToolUseFailure-Bash", tool_use_id="toolu_2")
    assert entries(claude, "step.judged")[1]["report"]["failed_calls"] == 1
    assert ToolCall.objects.filter(run=claude.run, ok=False).count() == 1


def test_every_recorded_tool_is_judged_and_settled(agent: httpx.Client) -> None:
    kinds = {}
    for dialect, tools in {
        "claude-code": ("Bash", "Write", "Edit", "Read", "Agent"),
        "codex": ("Bash", "apply_patch"),
    }.items():
        host = Host(client=agent, dialect=dialect)
        for tool in tools:
            assert host.fire(f"PreToolUse-{tool}", tool_use_id=tool) == {}
            assert host.fire(f"PostToolUse-{tool}", tool_use_id=tool) == {}
        for call in ToolCall.objects.filter(run=host.run):
            kinds[dialect, call.tool] = call.kind
            assert call.ok is True
        assert host.run.steps == len(tools)
    assert kinds == {
        ("claude-code", "Bash"): "command",
        ("claude-code", "Write"): "edit",
        ("claude-code", "Edit"): "edit",
        ("claude-code", "Read"): "tool",
        ("claude-code", "Agent"): "tool",
        ("codex", "Bash"): "command",
        ("codex", "apply_patch"): "edit",
    }


def test_tools_that_end_side_by_side_are_steps_in_a_row(claude: Host) -> None:
    """Ten first events of one session at once: one run, ten calls, ten steps."""
    uses = [f"toolu_{number}" for number in range(10)]
    with ThreadPoolExecutor(max_workers=10) as pool:
        before = pool.map(lambda use: claude.before(f"ls {use}", use), uses)
        assert list(before) == [{}] * 10
        after = pool.map(
            lambda use: claude.after(f"ls {use}", use, checkrail={"tokens": 7}), uses
        )
        assert list(after) == [{}] * 10

    assert claude.run.steps == claude.run.tool_calls_used == 10
    assert claude.run.tokens_used == 70


def test_whatever_a_tool_printed_can_be_told(claude: Host) -> None:
    odd = {
        "image": "A" * 2_000_000,
        "nul": "a\0b",
        "half": "\ud83d",
        "big": 2**70,
        "deep": [[[[[[[[]]]]]]]],
    }
    event = {
        **load_recorded("claude-code", "PostToolUse-Bash"),
        "session_id": claude.session,
        "tool_response": odd,
    }
    response = claude.client.post(
        "/hooks/claude-code/PostToolUse",
        content=json.dumps(event),
        headers={"Content-Type": "application/json"},
    )
    assert response.json() == {}
    assert "not asked about" in entries(claude, "step.judged")[0]["report"]["summary"]


def test_an_answer_at_the_terminal_ends_the_review(claude: Host) -> None:
    claude.options = {**SOON}
    assert decision(claude.before(ASKED)) == "ask"
    # What another tool used meanwhile is not lost: the next step carries it.
    claude.before("ls", "toolu_2")
    assert claude.after("ls", "toolu_2", checkrail={"tokens": 30}) == {}
    assert claude.run.steps == 0

    assert claude.after(ASKED, checkrail={"tokens": 12}) == {}

    assert claude.review.state == "withdrawn"
    withdrawn = entries(claude, "review.withdrawn")[0]
    assert withdrawn["reason"] == "Answered at the terminal: the call ran"
    step = entries(claude, "step.judged")[0]["report"]
    assert "let run at the terminal" in step["summary"]
    assert step["tokens"] == claude.run.tokens_used == 42
    assert claude.run.status == "running"
    assert replay_run(claude.run).difference is None


def test_what_was_not_asked_about_at_the_terminal_cannot_be_taken_back(
    codex: Host,
) -> None:
    """An agent that runs what it was denied does not clear the queue by telling so."""
    codex.options = {**SOON}
    assert decision(codex.before(ASKED)) == "deny"
    codex.after(ASKED)
    assert codex.review.state == "open"


def test_a_run_is_judged_by_what_ran_although_it_was_denied(codex: Host) -> None:
    codex.options = {**SOON}
    assert decision(codex.before(ASKED)) == "deny"
    codex.after(ASKED)

    (told,) = entries(codex, "violation.recorded")
    assert (told["rule"], told["severity"]) == ("ran-although-refused", "critical")
    assert ASKED in told["description"]
    rules = get_policy(codex.run.policy_id).policy.evaluators
    seen = load_seen(build_state(codex.run), rules)
    assert [call.rule for call in seen.forbidden] == ["ran-although-refused"]
    facts = OutcomeFacts(seen=seen, report=Report())
    assert judge_commands(rules, facts).passed is False


def test_the_decisions_on_a_step(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("small", project=project, budget={"tokens": 100})
    make_policy(
        "saves", project=project, **{"continue": {"checkpoint_interval_steps": 1}}
    )
    make_policy("wary", project=project, **WARY)

    stopped = Host(client=agent, options={"policy": "small"})
    stopped.before("ls")
    answer = stopped.after("ls", checkrail={"tokens": 200})
    assert answer["continue"] is False
    assert str(stopped.run.code) in answer["stopReason"]
    assert stopped.before("ls", "toolu_2")["continue"] is False
    assert stopped.fire("UserPromptSubmit")["continue"] is False
    assert "stopped" in stopped.fire("SessionStart")["systemMessage"]

    due = Host(client=agent, options={"policy": "saves"})
    due.before("ls")
    said = due.after("ls")["hookSpecificOutput"]["additionalContext"]
    assert "checkpoint" in said
    due.before("git commit -am work", "toolu_2")
    assert due.after("git commit -am work", "toolu_2") == {}

    paused = Host(client=agent, options={"policy": "wary"})
    paused.before("ls")
    paused.after("ls")
    paused.before("ls", "toolu_2")
    waiting = paused.parked(lambda: paused.after("ls", "toolu_2"))
    # The run waits as a whole: the next call is not even judged before it is ruled on.
    paused.options.update(SOON)
    unseen = paused.before("ls b", "toolu_3")
    assert decision(unseen) == "deny"
    assert str(paused.review.code) in str(unseen)
    paused.options["headless"] = "true"
    assert decision(paused.before("ls b", "toolu_3")) == "defer"
    rule(reviewer, str(paused.review.code), "approve")
    assert waiting.result(timeout=60) == {}
    assert paused.before("ls b", "toolu_3") == {}


def test_a_pause_that_nobody_rules_on_halts_the_agent(
    claude: Host, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("wary", project=project, **WARY)
    claude.options = {"policy": "wary", **SOON}
    claude.after("ls")
    answer = claude.after("ls", "toolu_2")
    assert answer["continue"] is False
    assert str(claude.review.code) in answer["stopReason"]

    rule(reviewer, str(claude.review.code), "abort", note="enough")
    assert "enough" in claude.after("ls b", "toolu_3")["stopReason"]


def test_a_throttled_step_is_answered_late(claude: Host, project: Project) -> None:
    slow = {
        "max_budget_slope": 0.0001,
        "slope_window": 3,
        "slope_min_points": 3,
        "throttle_base_ms": 200,
        "throttle_max_ms": 200,
    }
    make_policy("slow", project=project, **{"continue": slow})
    claude.options = {"policy": "slow"}
    took = []
    for number in range(6):
        began = time.monotonic()
        used = {"tokens": 1000 * 2**number}
        claude.after(f"ls {number}", f"toolu_{number}", checkrail=used)
        took.append(time.monotonic() - began)
    throttled = entries(claude, "step.judged")
    late = [
        seconds
        for seconds, step in zip(took, throttled, strict=True)
        if step["verdict"]["decision"] == "throttle"
    ]
    assert late
    assert all(seconds >= 0.2 for seconds in late)


def test_a_stop_keeps_what_waits_from_being_run(
    claude: Host, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    """A run that a person ends answers a call that is held."""
    waiting = claude.parked(lambda: claude.before(ASKED))
    run = claude.run.code
    ended = reviewer.post(f"/runs/{run}/abort", json={"reason": "wrong repository"})
    assert ended.status_code == 200

    answer = waiting.result(timeout=60)
    assert answer["continue"] is False
    assert decision(answer) == "deny"
    assert "wrong repository" in answer["stopReason"]
    assert Review.objects.get(run=claude.run).state == "superseded"


def test_what_was_used_while_the_run_waited_is_counted_with_the_next_step(
    claude: Host, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("wary", project=project, **WARY)
    claude.options = {"policy": "wary", **SOON}
    claude.after("ls")
    claude.after("ls", "toolu_2")
    assert claude.run.status == "paused"
    answer = claude.after("ls b", "toolu_3", checkrail={"tokens": 700})
    assert answer["continue"] is False
    assert claude.run.tokens_used == 0

    rule(reviewer, str(claude.review.code), "approve")
    claude.after("ls c", "toolu_4", checkrail={"tokens": 30})

    assert claude.run.tokens_used == 730
