"""Stop: an agent that is half-way is sent on, and one that asks gets its answer."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.models import Entry
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

    answer = waiting.result(timeout=10)
    assert answer["decision"] == "block"
    assert "Keep it for a week" in answer["reason"]


def test_an_aborted_question_halts(codex: Host, reviewer: httpx.Client) -> None:
    codex.before("ls")
    said = "Shall I delete the old table?"
    waiting = codex.parked(lambda: codex.fire("Stop", last_assistant_message=said))
    rule(reviewer, str(codex.review.code), "abort", note="leave it")
    assert "leave it" in waiting.result(timeout=10)["stopReason"]


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
