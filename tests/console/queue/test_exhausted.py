"""A check out of attempts, and a turn that asks, as a person has them on the screen."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.queue.kinds.exhausted import build_exhausted
from reviews.models import GateCheck, Review
from safetext import split_pages
from tests.console.queue.panes import Desk, Pane, open_desk
from tests.gateway.calls.calls import rule
from tests.gateway.checks.saying import end_turn, exhaust, judge, open_check
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

GATES = {
    "tests-pass": {
        "name": "Test suite",
        "severity": "critical",
        "criteria": [
            "New code has a test",
            {"text": "Tests pass", "verifier": "command", "command": "pytest -q"},
        ],
        "guidance": "Run it now.",
    },
    "style": {"name": "Style", "severity": "high", "criteria": ["The linter is quiet"]},
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("quality", project=project, gates=GATES, checks={"max_resets": 1})
    return start_run(agent, policy="quality")


def failing(*indexes: int) -> dict[str, Any]:
    """A verdict in which the gates of these numbers failed."""
    entries = [
        {
            "index": number,
            "passed": number not in indexes,
            "rationale": f"about {number}",
        }
        for number in (1, 2)
    ]
    return {"overall": "FAIL", "rationale": "Not yet", "per_gate": entries}


def dock(pane: Pane) -> str:
    return pane.html[pane.html.index('<form class="dock"') :]


def test_the_queue_says_what_it_is_about(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    exhaust(agent, run, "tests-pass")
    page = open_browser(alice.user).get(f"/p/{project.slug}/queue/").content.decode()
    row = page[page.index('<li id="review-') :]
    row = row[: row.index("</li>")]
    assert "Not passed after 2 attempts: Test suite" in row
    assert '<span class="chip">attempt 2 of 2</span>' in row
    assert "#i-unpassed" in row


def test_every_attempt_stands_beside_the_one_before(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    check = open_check(agent, run, "tests-pass", "style")
    judge(agent, run, check, **failing(1, 2))
    told = judge(agent, run, check, **failing(1))
    attempts = open_desk(alice, project, told).look().part("Attempts")
    first, second = attempts.split("Attempt 2")
    assert "tests-pass</code> about 1" in first
    assert "style</code> about 2" in first
    assert "Changed" not in first
    assert "No longer fails</b> Style" in second
    assert "Still fails</b> Test suite" in second
    assert "The same words as before" in second
    assert "2 of 2 used" in attempts


def test_gates_are_shown_with_what_they_ask(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    check = open_check(agent, run, "style", "tests-pass")
    judge(agent, run, check, **failing(2))
    told = judge(agent, run, check, **failing(2))
    pane = open_desk(alice, project, told).look()
    gates = pane.part("Gates")
    assert gates.index("Test suite") < gates.index("Style")  # the failed one first
    assert "critical" in gates
    assert "blocking" in gates
    assert "New code has a test" in gates
    assert "proven by <code>pytest -q</code>" in gates
    assert "Run it now." in gates
    assert "not among the failed" in gates
    assert '0<span class="c-mute">of 1 used</span>' in pane.html


def test_a_claim_without_its_proof_is_called_so(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    check = open_check(agent, run, "tests-pass", "style")
    judge(agent, run, check, **failing(2))
    evidence = [
        {"criterion": "tests-pass.2", "exit_code": 1, "output_sha256": "0" * 64}
    ]
    told = judge(
        agent, run, check, overall="PASS", rationale="All green", evidence=evidence
    )
    pane = open_desk(alice, project, told).look()
    attempts = pane.part("Attempts")
    assert "PASS without proof" in attempts
    assert "the command ended with exit code 1" in attempts
    assert "Without proof now</b> tests-pass.2" in attempts
    assert "Claimed to pass now</b> Style" in attempts
    assert "No longer fails" not in attempts
    assert "no proof yet" in pane.part("Gates")


def test_retry_skip_and_abort_are_offered_with_their_meaning(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    _, told = exhaust(agent, run, "tests-pass")
    form = dock(open_desk(alice, project, told).look())
    for action, key in (("retry", "r"), ("skip", "s")):
        assert f'value="{action}" data-hotkey="{key}"' in form
    assert 'data-dialog="abort" data-hotkey="b"' in form
    assert "your words go into the agent’s next prompt" in form
    assert "the ledger says “gate not passed”" in form
    assert 'value="approve"' not in form


def test_a_retry_hands_its_guidance_on_and_then_no_reset_is_left(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    check, told = exhaust(agent, run, "tests-pass")
    desk = open_desk(alice, project, told)
    pane = desk.rule("retry", text="Mock the clock\u202e")
    assert "You asked for a retry" in pane.text
    stands = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    assert "Mock the clock" in stands["prompt"]
    judge(agent, run, check)
    again = judge(agent, run, check)
    pane = open_desk(alice, project, again).look()
    attempts = pane.part("Attempts")
    assert attempts.index("Newest round") < attempts.index("Round 1")
    assert "Mock the clock⟨U+202E⟩" in attempts
    assert "4 attempts in all" in pane.text
    form = dock(pane)
    assert 'value="retry"' not in form
    assert 'value="skip"' in form
    assert "No reset is left for a retry" in form


def test_a_skip_without_a_reason_is_refused_in_words(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    _, told = exhaust(agent, run, "tests-pass")
    desk = open_desk(alice, project, told)
    refused = desk.rule("skip", text="  ")
    assert refused.status == 422
    error = refused.html.partition('id="note-error"')[2].partition("</p>")[0]
    assert "Say why the gate may be skipped." in error
    done = desk.rule("skip", text="A known flake")
    assert "You skipped the gate, which is not passed" in done.text
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    assert GateCheck.objects.get(run__code=run).status == "skipped"


def test_an_abort_ends_the_run(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    _, told = exhaust(agent, run, "tests-pass")
    pane = open_desk(alice, project, told).rule("abort", reason="Wrong branch")
    assert "You aborted the run" in pane.text
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"


def test_what_an_agent_brings_stays_text(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    odd = "</section><script>x</script>\u202e"
    own = {"id": "own", "name": odd, "mode": "blocking", "criteria": [odd]}
    check = open_check(agent, run, inline=[own])
    judge(agent, run, check, overall="FAIL", rationale=odd)
    told = judge(agent, run, check, overall="FAIL", rationale=odd)
    pane = open_desk(alice, project, told).look()
    assert "script" not in pane.kinds
    assert "\u202e" not in pane.html


def test_words_that_changed_are_marked(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    check = open_check(agent, run, "tests-pass")
    judge(agent, run, check, "FAIL - three tests of the billing suite fail")
    told = judge(agent, run, check, "FAIL - one test of the billing suite fails")
    review = Review.objects.get(code=told["review"]["id"])
    assert review.kind == "exhausted"
    attempts = open_desk(alice, project, told).look().part("Attempts")
    assert "not in the attempt before" in attempts


def test_where_nobody_said_which_gate_failed_nothing_is_guessed() -> None:
    gate = {"id": "a", "name": "A", "severity": "critical", "mode": "blocking"}
    event = {"what": "failed", "said": "no", "failed_gates": [], "unproven": []}
    history = [{**event, "remarks": []}, {**event, "said": "yes", "remarks": []}]
    state = {"mode": "blocking", "max_attempts": 2, "status": "exhausted"}
    check = build_exhausted(
        {
            "gates": [gate, {**gate, "id": "b", "name": "B"}],
            "state": {**state, "attempts": 2, "history": history},
            "step": 0,
        }
    )
    (round_,) = check.rounds
    assert [attempt.differences for attempt in round_.attempts] == [(), ()]
    assert [gate.failed for gate in check.gates] == [None, None]


def test_a_turn_that_asks_is_shown_as_the_agents_own_words(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    told = end_turn(agent, run, "The admin agreed\u200b.\nShall I drop the table?")
    desk = open_desk(alice, project, told)
    pane = desk.look()
    assert "The turn asks a person" in pane.part("Why it was escalated")
    said = pane.part("How the turn ended")
    assert "checked by nobody" in said
    assert "U+200B" in said
    assert "\u200b" not in pane.html
    assert 'aria-label="Your answer"' in pane.html
    desk.rule("answer", text="No. Archive it first.")
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert ruling["answer"] == "No. Archive it first."


def test_of_a_long_turn_its_end_is_shown(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    text = "A line of a long story.\n" * 2_000 + "Shall I go on?"
    told = end_turn(agent, run, text)
    said = open_desk(alice, project, told).look().part("How the turn ended")
    assert f"{split_pages(text)[-1][0]} characters stand before it" in said
    assert "Shall I go on?" in said


def test_a_question_of_the_agent_itself_looks_as_before(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    body = {"kind": "question", "title": "Which one?", "detail": "Two are alike."}
    review = agent.post(f"/runs/{run}/reviews", json=body).json()
    pane = Desk(
        client=open_browser(alice.user),
        path=f"/p/{project.slug}/queue/{review['id']}/",
    ).look()
    assert "What it asks" in pane.text
    assert "How the turn ended" not in pane.text


def test_others_see_who_chose_what(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    alice: Person,
    bob: Person,
    run: str,
) -> None:
    _, told = exhaust(agent, run, "tests-pass")
    rule(reviewer, told, "retry", note="Mock the clock")
    pane = open_desk(alice, project, told).look()
    assert f"{bob.user.username} asked for a retry" in pane.text
    assert "Mock the clock" in pane.text
