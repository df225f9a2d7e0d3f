"""The run that keeps the loop's decisions: whole, apart from agents' runs, never ended."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from accounts.models import Agent, Project
from accounts.services import issue_agent_key
from common.errors import Invalid
from console.live.updates import View, build_updates
from console.runs.rows import count_fleet, get_live_position
from ledger.models import Run
from ledger.verification.replay import replay_run
from loop import runs
from reviews.rulings.expiry import abandon_silent_runs
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.loop.inbox.test_work import note, recommend
from tests.loop.saying import COMPLETE, loop_policy, loop_runs, outcome, sound
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run
from tests.support.problems import problem


def test_it_is_nobodys_work(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    mine = start_run(agent)
    told = outcome(agent, project)
    assert told["snapshot"]["active_runs"]["value"] == 1
    assert count_fleet(project_id=project.pk).running == 1
    listed = [run["id"] for run in reviewer.get("/runs").json()["items"]]
    assert listed == [mine]
    (own,) = reviewer.get("/runs?agent=system-loop").json()["items"]
    assert (own["id"], own["labels"]) == (told["run"], {"kind": "system-loop"})
    assert reviewer.get(f"/runs/{told['run']}/verify").json()["ok"] is True
    problem(agent.get(f"/runs/{told['run']}"), "not-found")


def test_the_console_lists_it_only_where_it_is_looked_for(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    mine = start_run(agent)
    view = View(project_id=project.pk, name="runs")
    since = get_live_position(project_id=project.pk)
    own = outcome(agent, project)["run"]
    client = open_browser(alice.user)
    runs = f"/p/{project.slug}/runs/"
    page = client.get(runs).content.decode()
    assert f"run-{mine}" in page
    assert f"run-{own}" not in page
    assert f"run-{own}" not in build_updates([(view, since)])[view, since].text
    loop = client.get(f"/p/{project.slug}/loop/").content.decode()
    assert f'href="{runs}?q=agent:system-loop"' in loop
    found = client.get(runs, {"q": "agent:system-loop"}).content.decode()
    assert f"run-{own}" in found
    assert client.get(f"{runs}{own}/").status_code == 200


def test_nobody_else_can_be_it(agent: httpx.Client, project: Project) -> None:
    body = {"task": "t", "intent": "system-loop"}
    problem(agent.post("/runs", json=body), "invalid")
    with pytest.raises(Invalid, match="server's own"):
        issue_agent_key(name="system-loop", project_slug=project.slug)
    with pytest.raises(CommandError, match="server's own"):
        call_command("agent_key", "system-loop", project=project.slug)
    outcome(agent, project)
    loop_agent = Agent.objects.get(project=project, name="system-loop")
    assert not loop_agent.keys.exists()
    with pytest.raises(CommandError, match="it has no owner"):
        call_command(
            *("agents", "owner", "system-loop", "--nobody", "--project", project.slug)
        )


def test_it_is_never_abandoned(agent: httpx.Client, project: Project) -> None:
    code = outcome(agent, project)["run"]
    long_ago = timezone.now() - timedelta(days=30)
    Run.objects.filter(code=code).update(created_at=long_ago, updated_at=long_ago)
    abandon_silent_runs()
    assert Run.objects.get(code=code).status == "running"


def test_an_aborted_run_is_followed_by_a_new_one(
    agent: httpx.Client, manager: httpx.Client, project: Project
) -> None:
    first = outcome(agent, project)["run"]
    manager.post(f"/runs/{first}/abort", json={"reason": "Too much"})
    second = outcome(agent, project)["run"]
    assert second != first
    old, new = loop_runs(project)
    assert (old.status, new.status, new.parent) == ("aborted", "running", old)
    sound(project)


def test_a_long_run_is_followed_by_a_new_one_once_nothing_waits_in_it(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loop_policy(project)
    monkeypatch.setattr(runs, "ENTRIES_LIMIT", 5)
    held = outcome(agent, project, COMPLETE)
    codes = {outcome(agent, project, "system/note", n=n)["run"] for n in range(3)}
    assert codes == {held["run"]}
    review = held["review"]["id"]
    body = reviewer.get(f"/reviews/{review}").json()
    ruling = {
        "action": "deny",
        "version": body["version"],
        "content_digest": body["content_digest"],
    }
    assert reviewer.post(f"/reviews/{review}/ruling", json=ruling).status_code == 200
    assert outcome(agent, project, "system/note")["run"] != held["run"]
    old, new = loop_runs(project)
    assert (old.status, new.parent) == ("completed", old)
    sound(project)


def test_a_decision_that_was_changed_is_named(
    agent: httpx.Client, project: Project
) -> None:
    loop_policy(project)
    told = outcome(agent, project, about="x")
    (run,) = loop_runs(project)
    entry = run.entries.get(seq=told["seq"])
    payload = json.loads(entry.payload)
    changes: dict[str, Any] = {
        "outcome": "noop",
        "action": "do_nothing",
        "state_hash": "sha256:0",
        "reasoning": "Because.",
        "guardrails": [{}],
        "proposal": {**payload["proposal"], "parameters": {"about": "y"}},
    }
    for name, value in changes.items():
        found = replay_edited(run, entry.pk, {**payload, name: value})
        assert f"entry {entry.seq}: {name} is stored as" in found, name
    changed = {**payload["policy"], "hash": "sha256:0"}
    assert "policy" in replay_edited(run, entry.pk, {**payload, "policy": changed})
    assert replay_edited(run, entry.pk, payload) == "None"


def replay_edited(run: Run, entry: int, payload: dict[str, Any]) -> str:
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE id = %s",
            [json.dumps(payload), entry],
        )
    return str(replay_run(run).difference)


def test_every_entry_has_a_line_on_the_runs_page(
    agent: httpx.Client,
    manager: httpx.Client,
    alice: Person,
    project: Project,
) -> None:
    loop_policy(project)
    told = outcome(agent, project, about="x")
    report = {"outcome": "failed", "summary": "Could not"}
    agent.post(f"/loop/decisions/{told['decision_id']}/outcome", json=report)
    outcome(agent, project, COMPLETE)
    manager.post("/loop/switch", json={"paused": True, "reason": "Enough for today"})
    note(agent, "A note to keep")
    recommend(agent)
    agent.post(f"/runs/{start_run(agent)}/finish", json={"outcome": "completed"})
    outcome(agent, project)
    path = f"/p/{project.slug}/runs/{told['run']}/"
    page = open_browser(alice.user).get(path).content.decode()
    for words in (
        *("Start loop: emitted", "Event emitted", "Start loop: approval required"),
        *("Outcome reported: failed", "Loop paused", "Enough for today"),
        *("Note queued", "A note to keep", "Recommendation pending"),
        *("1 trigger from the ledger", "Do nothing: noop", "Trigger"),
    ):
        assert words in page, words
