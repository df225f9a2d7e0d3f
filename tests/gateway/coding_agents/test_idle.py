"""The time of a session counts between a prompt and its Stop, and not in between."""

from __future__ import annotations

import httpx
import pytest
from django.core.management import call_command

from ledger.models import Entry, Run
from tests.gateway.coding_agents.hosts import SOON, Host
from tests.support.people import rule

pytestmark = pytest.mark.once("judges what counts, not SQL")


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
    session.before("rm -rf build", "toolu_2")
    assert session.run.status == "paused"
    session.fire("SessionEnd")
    session.fire("SessionEnd")
    if session.run.status == "running":
        assert not is_counting(session.run)
