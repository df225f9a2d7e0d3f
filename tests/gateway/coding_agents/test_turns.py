"""Stop: an agent that is half-way is sent on, one that asks gets its answer, and between
the end of a turn and the next prompt no time counts."""

from __future__ import annotations

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from ledger.models import Entry, Run
from tests.gateway.coding_agents.hosts import SOON, Host
from tests.support.builders import make_policy
from tests.support.people import rule

pytestmark = pytest.mark.once("judges what a host is told, not what is stored")

HALF_WAY = "I have changed the first file. Now let me continue with the second one."


def test_an_agent_that_stops_half_way_is_sent_on_three_times(
    claude: Host, project: Project
) -> None:
    make_policy("eager", project=project, turns={"threshold": 35, "warn_from": 20})
    claude.options = {"policy": "eager", **SOON}
    claude.before("ls")
    for silence in (HALF_WAY, None, HALF_WAY):
        answer = claude.fire("Stop", last_assistant_message=silence)
        assert answer["decision"] == "block"
        assert answer["reason"]
    # Then a person has to look, and nobody does.
    assert claude.fire("Stop", last_assistant_message=HALF_WAY) == {}
    assert (claude.review.kind, claude.review.state) == ("question", "open")


def test_a_person_answers_the_agents_question(
    claude: Host, reviewer: httpx.Client
) -> None:
    claude.options = {"headless": "true"}
    claude.before("ls")
    said = "Shall I delete the old table?"
    waiting = claude.parked(lambda: claude.fire("Stop", last_assistant_message=said))
    assert not waiting.done()

    rule(reviewer, str(claude.review.code), "answer", answer="Keep it for a week")

    answer = waiting.result(timeout=60)
    assert answer["decision"] == "block"
    assert "Keep it for a week" in answer["reason"]


def test_an_aborted_question_halts(codex: Host, reviewer: httpx.Client) -> None:
    codex.before("ls")
    said = "Shall I delete the old table?"
    waiting = codex.parked(lambda: codex.fire("Stop", last_assistant_message=said))
    rule(reviewer, str(codex.review.code), "abort", note="leave it")
    assert "leave it" in waiting.result(timeout=60)["stopReason"]


def test_quiet_ends(claude: Host) -> None:
    """Nothing is known, something works in the background, or all is done."""
    assert claude.fire("Stop") == {}
    assert not claude.known

    claude.before("ls")
    task = {"id": "1", "type": "shell", "status": "running", "description": "tests"}
    assert claude.fire("Stop", background_tasks=[task]) == {}
    assert not Entry.objects.filter(run=claude.run, type="turn.judged").exists()
    claude.options = SOON
    assert claude.fire("SubagentStop") == {}
    used = {"tokens": 900}
    assert claude.fire("Stop", checkrail=used) == {}
    # What the last answer cost is a step of its own.
    assert (claude.run.steps, claude.run.tokens_used) == (1, 900)


@pytest.fixture
def session(claude: Host) -> Host:
    """A session that has worked on its first prompt."""
    claude.options = SOON
    claude.fire("UserPromptSubmit")
    claude.before("ls")
    claude.after("ls")
    return claude


def is_counting(run: Run) -> bool:
    assert (run.time_over_at is None) == (run.running_since is None)
    return run.running_since is not None


def list_types(run: Run) -> list[str]:
    types = Entry.objects.filter(run=run, type__startswith="session.").order_by("seq")
    return list(types.values_list("type", flat=True))


def test_between_stop_and_the_next_prompt_no_time_counts(session: Host) -> None:
    assert is_counting(session.run)
    session.fire("Stop")
    idle = session.run
    assert (idle.status, is_counting(idle)) == ("running", False)
    session.fire("Stop")

    session.fire("UserPromptSubmit", prompt="Now the other file")

    again = session.run
    assert is_counting(again)
    assert again.running_ms == idle.running_ms
    session.fire("UserPromptSubmit", prompt="And one more thing")
    assert list_types(again) == ["session.idle", "session.prompted"]
    call_command("replay", run=str(again.code))
    call_command("ledger_verify", run=str(again.code))


def test_work_without_a_prompt_counts_from_its_first_call(session: Host) -> None:
    """Something in the background has woken the agent."""
    session.fire("Stop")
    session.before("pwd", "toolu_2")
    assert is_counting(session.run)
    session.fire("Stop")
    session.after("pwd", "toolu_2")
    assert is_counting(session.run)
    call_command("replay", run=str(session.run.code))


def test_what_works_on_in_the_background_counts(session: Host) -> None:
    task = {"id": "1", "type": "shell", "status": "running", "description": "tests"}
    session.fire("Stop", background_tasks=[task])
    assert is_counting(session.run)
    session.fire("SubagentStop")
    assert is_counting(session.run)


def test_a_ruling_that_comes_while_nobody_works_starts_no_clock(
    session: Host, reviewer: httpx.Client
) -> None:
    """The agent asked, nobody answered in time, and the terminal waits."""
    session.fire("Stop", last_assistant_message="Shall I delete the old table?")
    assert session.run.status == "paused"

    rule(reviewer, str(session.review.code), "answer", answer="No")

    assert session.run.status == "running"
    assert not is_counting(session.run)
    session.fire("UserPromptSubmit", prompt="Go on then")
    assert is_counting(session.run)
    call_command("replay", run=str(session.run.code))
    call_command("ledger_verify", run=str(session.run.code))


def test_an_agent_that_was_halted_is_idle(
    session: Host, reviewer: httpx.Client
) -> None:
    """It was paused in the middle of its work, and nobody ruled while it was held."""
    for number in range(3):
        answer = session.after("ls", f"toolu_{number + 2}")
    assert answer["continue"] is False
    assert session.run.status == "paused"

    rule(reviewer, str(session.review.code), "approve")

    assert (session.run.status, is_counting(session.run)) == ("running", False)


def test_a_session_that_ended_with_a_question_open_counts_no_time(
    session: Host, reviewer: httpx.Client
) -> None:
    session.options = {"headless": "true", **SOON}
    session.before("rm -rf src", "toolu_2")
    session.fire("SessionEnd")
    assert session.run.status == "paused"

    rule(reviewer, str(session.review.code), "deny")

    assert (session.run.status, is_counting(session.run)) == ("running", False)
