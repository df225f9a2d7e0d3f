"""Sessions beside one's own: what was used, asked and answered there stays there."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from gateway.coding_agents import turns
from gateway.coding_agents.sessions import is_session_of
from gateway.coding_agents.waiting import wait_for_ruling
from gateway.models import HookSession
from ledger.models import Entry, Run
from reviews.models import Review, ToolCall
from tests.conftest import client_for
from tests.gateway.coding_agents.hosts import SOON, Host, decision, reason
from tests.support.builders import Robot, make_policy, make_robot
from tests.support.live import Live
from tests.support.people import rule

pytestmark = pytest.mark.once(
    "forms of hooks; the calls behind them are repeated in tests/gateway/calls"
)

ASKED = "rm -rf build"
WARY = {"continue": {"repeat_limit": 2}}


def test_what_is_owed_is_paid_once_and_by_its_own_session(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy("wary", project=project, **WARY)
    options = {"policy": "wary", **SOON}
    mine, other = (Host(client=agent, options=dict(options)) for _ in range(2))
    other.after("ls z", "toolu_z")
    mine.after("ls")
    mine.after("ls", "toolu_2")
    used = {"tokens": 700, "cost_usd": "0.5"}
    mine.after("ls b", "toolu_3", checkrail=used)
    other.after("ls y", "toolu_y", checkrail={"tokens": 1})
    assert other.run.tokens_used == 1

    rule(reviewer, str(mine.review.code), "approve")
    for number, tokens in ((4, 30), (5, 2)):
        mine.after(f"ls {number}", f"toolu_{number}", checkrail={"tokens": tokens})
    assert (mine.run.tokens_used, mine.run.cost_micros_used) == (732, 500_000)


def test_the_same_call_in_another_session_is_another_call(agent: httpx.Client) -> None:
    first, second = (Host(client=agent, options=dict(SOON)) for _ in range(2))
    assert decision(first.before(ASKED)) == "ask"
    assert decision(first.before(ASKED, "toolu_2")) == "ask"
    assert Review.objects.filter(run=first.run).count() == 1, "asked about once"
    assert decision(second.before(ASKED)) == "ask"
    assert Review.objects.filter(run=second.run).count() == 1
    # What was overtaken in one session stays open in the other.
    second.fire("UserPromptSubmit", prompt="Something else")
    assert (first.review.state, second.review.state) == ("open", "withdrawn")
    second.fire("Stop", last_assistant_message="Shall I go on?")
    first.fire("UserPromptSubmit", prompt="No")
    assert second.review.state == "open", "another session's question"


def test_a_run_that_is_over_is_told_of_at_every_event(
    claude: Host, reviewer: httpx.Client
) -> None:
    claude.before("ls")
    run = claude.run
    reviewer.post(f"/runs/{run.code}/abort", json={"reason": "enough"})
    before = claude.before("ls b", "toolu_2")
    assert (before["continue"], decision(before)) == (False, "deny")
    after = claude.after("ls", checkrail={"tokens": 7})
    assert (after["continue"], "enough" in after["stopReason"]) == (False, True)
    assert claude.fire("Stop")["continue"] is False
    assert claude.fire("SessionEnd") == {}
    run.refresh_from_db()
    assert (run.status, run.tokens_used, run.steps) == ("aborted", 0, 0)
    assert ToolCall.objects.filter(run=run).count() == 1


def test_events_that_start_nothing_start_nothing(claude: Host) -> None:
    assert claude.fire("Stop") == {}
    assert claude.fire("SessionEnd", checkrail={"tokens": 5}) == {}
    assert not claude.known


def test_an_end_leaves_what_waits_for_a_person(
    codex: Host, reviewer: httpx.Client
) -> None:
    codex.options = dict(SOON)
    assert decision(codex.before(ASKED)) == "deny"
    codex.fire("SessionEnd")
    assert (codex.run.status, codex.review.state) == ("paused", "open")
    rule(reviewer, str(codex.review.code), "approve")
    codex.fire("SessionEnd")
    assert codex.run.status == "completed"


def test_an_end_without_anything_used_adds_no_step(claude: Host) -> None:
    claude.before("ls")
    claude.after("ls", checkrail={"tokens": 1})
    claude.fire("SessionEnd")
    assert (claude.run.status, claude.run.steps) == ("completed", 1)


def test_an_agent_that_left_something_at_work_is_not_judged(claude: Host) -> None:
    claude.before("make all")
    said = "Shall I delete the old table?"
    still = claude.fire(
        "Stop", last_assistant_message=said, background_tasks=[{"id": "1"}]
    )
    assert still == {}
    assert not Entry.objects.filter(run=claude.run, type="turn.judged").exists()
    claude.options = dict(SOON)
    claude.fire("Stop", last_assistant_message=said, background_tasks=[])
    assert Entry.objects.filter(run=claude.run, type="turn.judged").count() == 1


def test_who_sits_there_is_kept_from_the_terminal_for_a_minute_at_most(
    claude: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float | None] = []

    async def note(*args: Any, at_most: float | None = None, **more: Any) -> Any:
        waits.append(at_most)
        return await wait_for_ruling(*args, at_most=0, **more)

    monkeypatch.setattr(turns, "wait_for_ruling", note)
    claude.before("ls")
    claude.fire("Stop", last_assistant_message="Shall I delete it?")
    claude.fire("UserPromptSubmit", prompt="No")
    claude.options = {"headless": "true"}
    claude.fire("Stop", last_assistant_message="And that one?")
    assert waits == [60, None]


def test_tokens_of_a_last_answer_may_stop_the_run(
    claude: Host, project: Project
) -> None:
    make_policy("small", project=project, budget={"tokens": 100})
    claude.options = {"policy": "small"}
    claude.before("ls")
    answer = claude.fire("Stop", checkrail={"tokens": 200})
    assert answer["continue"] is False
    assert claude.run.status == "stopped"


def test_a_pause_between_grant_and_claim_is_waited_for(
    claude: Host, reviewer: httpx.Client, project: Project
) -> None:
    """The call is let run only after the person has let the run go on."""
    make_policy("wary", project=project, **WARY)
    claude.options = {"policy": "wary", **SOON}
    claude.after("ls")
    claude.after("ls", "toolu_2")
    told = claude.before("ls b", "toolu_3")
    assert decision(told) == "deny"
    assert "waits for a person" in reason(told)
    rule(reviewer, str(claude.review.code), "approve", note="go on")
    assert claude.before("ls b", "toolu_3") == {}


def test_only_ones_own_marks_are_ones_own(
    claude: Host, robo: Robot, live: Live, project: Project
) -> None:
    """By its mark a ruling is known to come from inside a session of the agent."""
    claude.before("ls")
    agent_id = robo.principal.agent_id
    neighbour = make_robot("robo-2", project=project)
    with client_for(live, neighbour) as client:
        theirs = Host(client=client)
        theirs.before("ls")
    assert is_session_of(f"claude-code:{claude.session}", agent_id=agent_id)
    for mark in (
        f"codex:{claude.session}",
        f"claude-code:{theirs.session}",
        "claude-code:",
        "claude-code",
        "",
    ):
        assert not is_session_of(mark, agent_id=agent_id), mark
    other = neighbour.principal.agent_id
    assert not is_session_of(f"claude-code:{claude.session}", agent_id=other)


def test_a_session_is_registered_with_its_model_and_labels_are_short(
    claude: Host,
) -> None:
    claude.fire("SessionStart", model="m" * 900)
    claude.fire("SessionStart", model="m2" * 300)
    rows = HookSession.objects.filter(session=claude.session)
    assert rows.count() == 1
    claude.before("ls", cwd="/" + "f" * 900)
    run: Run = claude.run
    assert run.model.startswith("m2m2")
    assert len(run.model) == 200
    assert run.labels["folder"] == "f" * 256
