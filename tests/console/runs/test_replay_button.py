"""The page of a run judges it again, and says whether all of it comes out the same."""

from __future__ import annotations

import json

import httpx
import pytest

from accounts.models import Project
from ledger.models import Run
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_run_is_replayed_by_a_button(
    project: Project,
    bob: Person,
    charlie: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    for number in (1, 2):
        agent.post(f"/runs/{run}/steps", json=step(number))
    browser = open_browser(bob.user)
    there = f"/p/{project.slug}/runs/{run}/replay/"
    page = browser.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert f'hx-post="{there}"' in page
    side = page.partition('id="run-side"')[2]
    assert 'id="replayed"' not in side, "It stays while the run goes on."
    said = browser.post(there).content.decode()
    assert "All of it comes out the same: 3 entries." in said
    assert open_browser(charlie.user).post(there).status_code == 404

    entry = Run.objects.get(code=run).entries.get(seq=2)
    payload = json.loads(entry.payload)
    payload["verdict"]["decision"] = "stop"
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE id = %s",
            [json.dumps(payload), entry.pk],
        )
    said = browser.post(there).content.decode()
    assert "It comes out differently. In entry 2: decision is stored as" in said

    monkeypatch.setattr("console.runs.replay.ENTRIES_LIMIT", 2)
    said = browser.post(there).content.decode()
    assert f"manage.py replay --run {run}" in said
