"""Policies are written through the API: stored, activated, restored, with every fault."""

from __future__ import annotations

from functools import partial
from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.support.builders import start_run
from tests.support.problems import fields, problem
from tests.support.threads import at_once

ONE = {"checks": {"max_resets": 1}}


def store(client: httpx.Client, name: str = "own", **body: Any) -> httpx.Response:
    return client.post(f"/policies/{name}/versions", json=body)


def activate(
    client: httpx.Client, number: int, name: str = "own", **body: Any
) -> httpx.Response:
    return client.post(f"/policies/{name}/versions/{number}/activate", json=body)


def test_a_version_is_stored_activated_and_restored(
    manager: httpx.Client, agent: httpx.Client, project: Project
) -> None:
    first = store(manager, "default", document=ONE, note="Fewer resets")
    assert first.status_code == 201, first.text
    assert (first.json()["version"], first.json()["active"]) == (2, False)
    assert first.json()["note"] == "Fewer resets"
    run = manager.get(f"/runs/{start_run(agent)}").json()
    assert run["policy"]["version"] == 1
    told = activate(manager, 2, "default", note="It is time")
    assert told.status_code == 200, told.text
    assert told.json()["active"] is True
    run = manager.get(f"/runs/{start_run(agent)}").json()
    assert run["policy"]["version"] == 2
    listed = manager.get("/policies/default").json()
    assert (listed["version"], listed["note"]) == (2, "It is time")
    assert activate(manager, 1, "default", note="Back").status_code == 200
    run = manager.get(f"/runs/{start_run(agent)}").json()
    assert run["policy"]["version"] == 1
    active = [
        each["version"]
        for each in manager.get("/policies/default/versions").json()["items"]
        if each["active"]
    ]
    assert active == [1]


def test_what_is_left_out_is_gone(manager: httpx.Client) -> None:
    store(manager, yaml="checks:\n  max_resets: 1\nruns:\n  abandon_after_s: 600\n")
    store(manager, yaml="runs:\n  abandon_after_s: 600\n", activate=True)
    found = manager.get("/policies/own/versions/2").json()
    assert found["document"] == {"runs": {"abandon_after_s": 600}}
    assert found["active"] is True


def test_every_fault_is_named_with_its_line(manager: httpx.Client) -> None:
    text = "checks:\n  max_resets: -1\n  x: 1\nnobody: 2\n"
    told = problem(store(manager, yaml=text), "invalid")
    assert {tuple(each["loc"]): each["line"] for each in told["errors"]} == {
        ("checks", "max_resets"): 2,
        ("checks", "x"): 3,
        ("nobody",): 4,
    }
    problem(manager.get("/policies/own"), "not-found")
    broken = problem(store(manager, yaml="a: [1\n"), "invalid")
    assert broken["errors"][0]["line"] == 2


def test_thirty_faults_come_at_once_and_nothing_is_stored(
    manager: httpx.Client,
) -> None:
    settings = [f"word_{number}" for number in range(27)]
    settings += ["max_rework_ratio", "repeat_limit", "rework_window"]
    document = {"continue": dict.fromkeys(settings, -1)}
    text = "continue:\n" + "".join(f"  {name}: -1\n" for name in settings)
    for name in ("validate", "own/versions", "own/backtest"):
        answers = [
            manager.post(f"/policies/{name}", json=body)
            for body in ({"yaml": text}, {"document": document})
        ]
        by_yaml, by_json = (answer.json()["errors"] for answer in answers)
        for errors in (by_yaml, by_json):
            assert {each["loc"][-1] for each in errors} == set(settings), name
            assert len(errors) == 30, name
        if name != "own/backtest":
            places = {each["loc"][-1]: each["line"] for each in by_yaml}
            assert places == {each: n for n, each in enumerate(settings, 2)}, name
    problem(manager.get("/policies/own"), "not-found")


def test_what_changes_nothing_is_refused(manager: httpx.Client) -> None:
    store(manager, document=ONE, activate=True)
    told = problem(store(manager, document=ONE), "unchanged")
    assert told["version"] == 1
    problem(activate(manager, 1), "unchanged")
    problem(activate(manager, 2), "not-found")
    problem(activate(manager, 1, "nobody"), "not-found")
    problem(store(manager), "invalid")
    assert fields(problem(store(manager, document=ONE, note=1), "invalid")) == ["note"]


@pytest.mark.parametrize("name", ["assignments", "schema.json", "validate"])
def test_names_that_mean_something_else_are_refused(
    manager: httpx.Client, name: str
) -> None:
    told = problem(store(manager, name, document=ONE), "invalid")
    assert "choose another name" in told["detail"]


def test_of_two_managers_one_is_told_what_is_in_force(manager: httpx.Client) -> None:
    store(manager, document=ONE, activate=True)
    store(manager, document={"checks": {"max_resets": 2}})
    store(manager, document={"checks": {"max_resets": 3}})
    answers = at_once(
        partial(activate, manager, 2, based_on=1),
        partial(activate, manager, 3, based_on=1),
    )
    refused = next(each for each in answers if each.status_code != 200)
    now = manager.get("/policies/own").json()["version"]
    told = problem(refused, "stale-version")
    assert told["in_force"] == {"name": "own", "version": now}
    assert now in {2, 3}
