"""What stored history suggests is counted by hand, and becomes a draft with its backtest."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from guidance.core.policy.differences import list_differences
from ledger.models import Entry, Run
from reviews.models import SuggestionSearch
from reviews.rulings.expiry import expire_due_reviews
from reviews.tasks import run_backtests
from tests.conftest import client_for
from tests.gateway.calls.calls import command
from tests.gateway.calls.calls import rule as rule_call
from tests.reviews.policies.suggesting import (
    SETTING,
    abort,
    draft,
    get_limit,
    look,
    read,
    report,
)
from tests.reviews.policies.trials import get as get_backtest
from tests.support.builders import (
    make_policy,
    make_project,
    make_robot,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import rule
from tests.support.problems import problem
from tests.support.waiting import until

# Under a limit of 0.8: people aborted seven runs that no gate had held, approved thirteen
# pauses, and eight runs completed.
ABORTED = (0.55, 0.6, 0.6, 0.65, 0.7, 0.75, 0.2)
APPROVED = (*[0.85] * 10, 0.9, 0.95, 0.95)
COMPLETED = (0.5, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.1)


def approve(agent: httpx.Client, reviewer: httpx.Client, *figures: float) -> None:
    decision = report(agent, start_run(agent), *figures)
    rule(reviewer, decision["review"]["id"], "approve")


def complete(agent: httpx.Client, *figures: float) -> None:
    run = start_run(agent)
    report(agent, run, *figures)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})


def make_history(agent: httpx.Client, reviewer: httpx.Client) -> list[str]:
    aborted = [abort(agent, reviewer, 0.1, each) for each in ABORTED]
    for each in APPROVED:
        approve(agent, reviewer, 0.1, each)
    for each in COMPLETED:
        complete(agent, each)
    # Still under way: nobody has said anything about it.
    report(agent, start_run(agent), 0.7)
    return aborted


@pytest.fixture
def aborted(agent: httpx.Client, reviewer: httpx.Client) -> list[str]:
    return make_history(agent, reviewer)


def test_a_limit_is_suggested_and_drafted_with_a_backtest_that_agrees(
    aborted: list[str],
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
) -> None:
    found = look(manager)
    assert (found["state"], found["stale"], found["version"]) == ("finished", False, 1)
    assert (found["runs"], found["steps"]) == (29, 20 * 2 + 8 + 1)
    limit = get_limit(found)
    assert (limit["today"], limit["suggested"]) == (0.8, 0.54)
    assert (limit["stopped"], limit["approved"], limit["completed"]) == (7, 13, 8)
    points = {
        each["value"]: (each["caught"], each["in_vain"]) for each in limit["points"]
    }
    assert [points[each] for each in (0.95, 0.84, 0.8, 0.65, 0.6, 0.54, 0.5)] == [
        *[(0, 0), (0, 13), (0, 13), (2, 13), (3, 13), (6, 13), (6, 13)]
    ]
    assert [points[each] for each in (0.49, 0.29, 0.2, 0.19, 0.1, 0.0)] == [
        *[(6, 14), (6, 20), (6, 20), (7, 20), (7, 20), (7, 21)]
    ]
    assert limit["because"] == (
        "It would have caught 6 of 7 runs that people aborted (today 0), and asked in "
        "vain 13 times (today 13)."
    )
    assert "20 rulings, 7 aborts and 13 approvals" in limit["rests_on"]
    assert limit["offered"] is True
    # 0.7 of the run that nobody has ruled on is a decision, and no case.
    assert limit["decisions_changed"] == 7
    assert {each["run"] for each in limit["examples"]} == set(aborted[:6])
    others = [each for each in found["limits"] if each["setting"] != SETTING]
    assert [each["suggested"] for each in others] == [None] * len(others)
    assert read(reviewer) == found
    # An agent that knows what people wave through knows what to ask for.
    problem(agent.get("/policies/default/suggestions"), "forbidden")

    answer = draft(manager, SETTING)

    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["version"], made["active"]) == (2, False)
    assert "Uncertainty limit: 0.8 → 0.54" in made["note"]
    assert "caught 6 of 7 runs" in made["note"]
    before, after = (
        manager.get(f"/policies/default/versions/{number}").json()["document"]
        for number in (1, 2)
    )
    (change,) = list_differences(before, after)
    assert (change.path, change.before, change.after) == (SETTING, 0.8, 0.54)
    run_backtests()
    tried = get_backtest(manager, made["backtest"])
    assert (tried["state"], tried["version"]) == ("finished", 2)
    assert tried["changed"] == limit["decisions_changed"]
    assert tried["moves"] == {"continue→pause": 7}
    assert tried["agrees_with_people"]["asked_more"] == {
        "total": 7,
        "runs": 7,
        "run_aborted": 6,
    }
    again = draft(manager, SETTING)
    assert (again.status_code, again.json()["type"]) == (409, "/problems/unchanged")


def test_other_projects_and_policies_do_not_count(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    make_policy("other", project=project, **{"continue": {"max_uncertainty": 0.8}})
    for each in ABORTED:
        run = start_run(agent, policy="other")
        report(agent, run, each)
        reviewer.post(f"/runs/{run}/abort", json={})
    limit = get_limit(look(manager))
    assert (limit["stopped"], limit["steps"], limit["enough"]) == (0, 0, False)
    assert limit["suggested"] is None
    assert "Too little to tell by: people aborted 0" in limit["because"]
    other = get_limit(look(manager, "other"))
    assert (other["stopped"], other["approved"], other["enough"]) == (7, 0, False)
    assert draft(manager, SETTING).status_code == 404


def test_a_stretch_ends_with_an_approval(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> None:
    """0.9 was approved; what was aborted is what came after it. A run that its agent gave
    up, and one that a gate stopped, say nothing."""
    run = start_run(agent)
    decision = report(agent, run, 0.9)
    rule(reviewer, decision["review"]["id"], "approve")
    agent.post(f"/runs/{run}/steps", json=step(2, uncertainty=0.4))
    reviewer.post(f"/runs/{run}/abort", json={})
    failed = start_run(agent)
    report(agent, failed, 0.6)
    agent.post(f"/runs/{failed}/finish", json={"outcome": "failed"})
    report(agent, start_run(agent), 0.6, 0.1)
    stopped = start_run(agent)
    agent.post(f"/runs/{stopped}/steps", json=step(1, uncertainty=0.6, coherence=0.1))
    limit = get_limit(look(manager))
    points = {
        each["value"]: (each["caught"], each["in_vain"]) for each in limit["points"]
    }
    assert (limit["stopped"], limit["approved"], limit["completed"]) == (1, 1, 0)
    assert [points[each] for each in (0.39, 0.4, 0.89, 0.9)] == [
        *[(1, 1), (0, 1), (0, 1), (0, 0)]
    ]
    # The step that was stopped for its coherence is not this limit's.
    assert limit["steps"] == 5


def test_what_was_measured_in_another_way_is_left_out(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    make_policy("default", project=project, **{"continue": {"repeat_limit": 5}})
    abort(agent, reviewer, 0.5)
    make_policy("default", project=project, **{"continue": {"max_uncertainty": 0.7}})
    abort(agent, reviewer, 0.6)
    abort(agent, reviewer, 0.6)
    found = look(manager)
    assert (get_limit(found)["stopped"], get_limit(found)["today"]) == (2, 0.7)
    assert get_limit(found, "budget.tokens")["stopped"] == 3


def test_only_steps_of_the_time_count_and_only_people_end_a_stretch(
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    project: Project,
) -> None:
    """A pause that expired aborts its run, and nobody has said so. An approved call is no
    word about the step before it."""
    make_policy("default", project=project, reviews={"expires_after_s": 1})
    expiring = start_run(agent)
    report(agent, expiring, 0.9)

    def is_expired() -> bool:
        expire_due_reviews()
        return Run.objects.get(code=expiring).status == "aborted"

    until(is_expired)
    make_policy("default", project=project)
    run = start_run(agent)
    report(agent, run, 0.5)
    rule_call(reviewer, command(agent, run, "rm -rf a"), "approve")
    manager.post("/policies/default/suggestions", json={})
    searches = SuggestionSearch.objects.filter(project=project, state="waiting")
    limit = get_limit(look(manager))
    assert (limit["stopped"], limit["approved"], limit["steps"]) == (0, 0, 2)

    agent.post(f"/runs/{run}/steps", json=step(2, uncertainty=0.6))
    manager.post("/policies/default/suggestions", json={})
    last = Entry.objects.filter(run__code=run).latest("seq")
    searches.update(since=last.at, until=last.at)
    run_backtests()
    assert get_limit(read(manager))["steps"] == 1


def test_steps_of_other_gates_and_other_projects_are_not_compared(
    live: Live,
    agent: httpx.Client,
    reviewer: httpx.Client,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = make_project()
    with client_for(live, make_robot(project=other)) as stranger:
        report(stranger, start_run(stranger), 0.5, 0.5)
    abort(agent, reviewer, 0.5)
    found = look(manager)
    assert (found["runs"], found["steps"], found["other"]) == (1, 1, 0)
    monkeypatch.setattr("gateway.backtest.steps.ENGINE_VERSION", 99)
    found = look(manager)
    assert (found["steps"], found["other"]) == (1, 1)
    assert get_limit(found)["stopped"] == 0
