"""What agents send to the loop is kept without secrets, and fits its place."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.models import Entry
from loop.models import Recommendation, Signal
from tests.loop.saying import loop_policy
from tests.support.problems import problem

pytestmark = pytest.mark.once("redacts text, not SQL")

TOKEN = "gh" + "p_" + "a1B2" * 9
# A label may be longer than the secret in whose place it stands.
LONG = ("password=hunter2xZ9 " * 10)[:200]


def test_no_secret_is_kept_of_a_signal_or_a_recommendation(
    agent: httpx.Client, project: Project
) -> None:
    signal = {"type": "system/note", "dedupe_key": f"key {TOKEN}"}
    first = agent.post("/loop/signals", json=signal)
    assert first.status_code == 202, first.text
    assert agent.post("/loop/signals", json=signal).json() == first.json()
    kinds = [{"name": "tidy", "description": f"With {TOKEN}"}]
    change = {"set": {"loop": {"kinds": kinds}}}
    told = agent.post(
        "/loop/recommendations", json={"title": "Tidy up", "change": change}
    )
    assert told.status_code == 201, told.text

    stored = [
        *Signal.objects.values_list("dedupe_key", flat=True),
        *Recommendation.objects.values_list("change", flat=True),
        *Entry.objects.filter(project=project).values_list("payload", flat=True),
    ]
    assert TOKEN not in str(stored)


def test_what_grows_by_its_labels_still_fits(agent: httpx.Client) -> None:
    signal = {"type": "system/note", "dedupe_key": LONG}
    advice = {"title": LONG, "change": {"advice": "Look at it"}}
    for path, body, status in (
        ("/loop/signals", signal, 202),
        ("/loop/recommendations", advice, 201),
    ):
        answer = agent.post(path, json=body)
        assert answer.status_code == status, answer.text
        assert "hunter2" not in answer.text
    run = agent.post("/runs", json={"task": "t", "model": LONG})
    assert run.status_code == 201, run.text
    for title in Recommendation.objects.values_list("title", flat=True):
        assert len(title) <= 200
    for key in Signal.objects.values_list("dedupe_key", flat=True):
        assert len(key or "") <= 255


def test_a_paused_loop_starts_nothing_that_was_recommended_either(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    change = {"kind": "repair", "parameters": {}}
    told = agent.post("/loop/recommendations", json={"title": "t", "change": change})
    assert told.status_code == 201, told.text
    adopt = f"/loop/recommendations/{told.json()['id']}/adopt"
    switch = {"project": project.slug, "paused": True, "reason": "Something is odd"}
    assert manager.post("/loop/switch", json=switch).status_code == 200
    problem(manager.post(adopt), "run-paused")
    assert not Entry.objects.filter(project=project, type="loop.emitted").exists()
    manager.post("/loop/switch", json={**switch, "paused": False})
    assert manager.post(adopt).json()["state"] == "adopted"


def test_a_change_of_a_policy_has_an_end(agent: httpx.Client) -> None:
    change = {"set": {"loop": {"kinds": [{"name": "x" * 20_000}]}}}
    answer = agent.post("/loop/recommendations", json={"title": "t", "change": change})
    assert answer.status_code == 422
    assert "16 KiB" in answer.text
