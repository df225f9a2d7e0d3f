"""Steps beside a draft: exactly those that it decides otherwise are noted."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from reviews.models import PolicyShadowItem
from tests.gateway.shadow.watching import count_same, list_seen, watch
from tests.support.builders import Person, make_policy, start_run, step

REWORK = (False, True, False, False, False, False, True, False)
STRICT: dict[str, Any] = {"continue": {"max_rework_ratio": 0.25}}


def report(agent: httpx.Client, run: str, *reworks: bool) -> list[dict[str, Any]]:
    answers = []
    for number, rework in enumerate(reworks, 1):
        body = step(number, rework=rework, summary=f"Step {number}")
        answer = agent.post(f"/runs/{run}/steps", json=body)
        assert answer.status_code == 201, answer.text
        answers.append(answer.json())
    return answers


def drop_places(answers: list[dict[str, Any]], run: str) -> str:
    """Without what is never the same in two runs: names, places, hashes, and the time."""
    told = str([{**each, "receipt": None} for each in answers]).replace(run, "RUN")
    return re.sub(r"'time_ms': \d+", "'time_ms': 0", told)


def check_run(code: str) -> None:
    call_command("ledger_verify", run=code)
    assert replay_run(Run.objects.get(code=code)).difference is None


def test_a_lower_rework_ratio_is_seen_to_pause_exactly_the_steps_above_it(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    """1 of 5, 1 of 6, 2 of 7, 2 of 8: only 2 of 7 is more than a quarter."""
    before = start_run(agent)
    alone = report(agent, before, *REWORK)
    shadow = watch(project, alice, STRICT)
    run = start_run(agent)

    beside = report(agent, run, *REWORK)

    assert drop_places(beside, run) == drop_places(alone, before)
    (seen,) = list_seen(shadow)
    # The run's first entry is its beginning, so step 7 is entry 8.
    assert (seen["kind"], seen["step"], seen["entry"]) == ("step", 7, 8)
    assert seen["subject"] == "Step 7"
    assert (seen["move"], seen["gate"], seen["asks"]) == (
        *("continue→pause", "rework"),
        "more",
    )
    assert seen["before"] == {"decision": "continue", "findings": []}
    (finding,) = seen["after"]["findings"]
    assert (finding["gate"], finding["limit"]) == ("rework", 0.25)
    assert count_same(shadow) == (7, 0)
    check_run(run)


def test_a_batch_of_steps_is_judged_step_by_step(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, STRICT)
    run = start_run(agent)
    steps = [step(n, rework=rework) for n, rework in enumerate(REWORK, 1)]

    answer = agent.post(f"/runs/{run}/steps/batch", json={"steps": steps})

    assert [each["decision"] for each in answer.json()["decisions"]] == ["continue"] * 8
    assert [(each["step"], each["entry"]) for each in list_seen(shadow)] == [(7, 8)]
    assert count_same(shadow) == (7, 0)
    check_run(run)


def test_a_batch_that_is_decided_twice_is_counted_once(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    """The step that pauses asks for the project's lock, and all begins anew."""
    shadow = watch(project, alice, STRICT)
    run = start_run(agent)
    steps = [step(1), step(2), step(3, uncertainty=0.95)]

    answer = agent.post(f"/runs/{run}/steps/batch", json={"steps": steps})

    assert answer.json()["decisions"][2]["decision"] == "pause"
    assert list_seen(shadow) == []
    assert count_same(shadow) == (3, 0)


def test_a_step_that_pauses_is_seen_to_go_on_under_a_looser_draft(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, {"continue": {"max_uncertainty": 0.95}})
    run = start_run(agent)

    answer = agent.post(f"/runs/{run}/steps", json=step(1, uncertainty=0.9)).json()

    assert (answer["decision"], answer["review"]["kind"]) == ("pause", "pause")
    (seen,) = list_seen(shadow)
    assert (seen["move"], seen["asks"]) == ("pause→continue", "less")
    check_run(run)


def test_only_runs_of_this_policy_are_judged(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    make_policy("other", project=project, **{"continue": {"max_uncertainty": 0.7}})
    shadow = watch(project, alice, STRICT)
    report(agent, start_run(agent, policy="other"), *REWORK)
    assert list_seen(shadow) == []
    assert count_same(shadow) == (0, 0)


def test_trouble_in_the_draft_is_told_and_changes_nothing(
    agent: httpx.Client,
    project: Project,
    alice: Person,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    alone = start_run(agent)
    answers = report(agent, alone, *REWORK)
    shadow = watch(project, alice, STRICT)
    run = start_run(agent)

    def fail(_item: object) -> None:
        raise ZeroDivisionError("the draft is at fault")

    monkeypatch.setattr("gateway.shadow.judge_step_again", fail)
    beside = report(agent, run, *REWORK)

    assert drop_places(beside, run) == drop_places(answers, alone)
    seen = list_seen(shadow)
    assert {each["reason"] for each in seen} == {
        "judging it failed (ZeroDivisionError)"
    }
    assert [each["before"]["decision"] for each in seen] == ["continue"] * 8
    assert [each["after"] for each in seen] == [None] * 8
    assert count_same(shadow) == (0, 0)
    assert "the draft is at fault" in caplog.text
    check_run(run)


def test_a_draft_that_cannot_be_read_is_told_so(
    agent: httpx.Client,
    project: Project,
    alice: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(_version: int) -> None:
        raise ValueError("a setting of another release")

    monkeypatch.setattr("reviews.policies.shadow.running.get_policy", fail)
    shadow = watch(project, alice, STRICT)
    run = start_run(agent)
    assert report(agent, run, False)[0]["decision"] == "continue"
    (seen,) = list_seen(shadow)
    assert (seen["reason"], seen["draft"]) == ("the draft cannot be read", None)
    check_run(run)


def test_what_the_run_does_not_remember_is_unknown_and_not_guessed(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    """A run keeps 20 steps for its own policy, and the draft wants to see up to 100: at
    step 21 the 20 before it are all there were."""
    wide = {"rework_window": 100, "max_rework_ratio": 0.9}
    shadow = watch(project, alice, {"continue": wide})
    run = start_run(agent)
    steps = [step(number, checkpoint=True) for number in range(1, 41)]
    agent.post(f"/runs/{run}/steps/batch", json={"steps": steps})
    seen = list_seen(shadow)
    assert [each["step"] for each in seen] == list(range(22, 41))
    assert {each["reason"] for each in seen} == {
        "the draft looks back at more steps than the run remembers"
    }
    assert count_same(shadow) == (21, 0)


def test_a_row_that_says_something_else_than_its_entry_is_found(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    shadow = watch(project, alice, STRICT)
    run = start_run(agent)
    report(agent, run, *REWORK)
    items = PolicyShadowItem.objects.filter(shadow=shadow)
    items.update(move="continue→stop")
    with pytest.raises(SystemExit):
        call_command("ledger_verify", run=run)
    items.update(move="continue→pause")
    check_run(run)
