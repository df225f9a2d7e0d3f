"""The timeline of a run: filters in the address, and each entry with all that is stored."""

from __future__ import annotations

import re

import httpx
import pytest
from django.test import Client

from accounts.models import Project
from ledger.models import Entry, Run
from tests.gateway.calls.calls import command
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.browsing import FRAGMENT, open_browser
from tests.support.builders import Person, pause_at_once, start_run, step

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def list_types(client: Client, path: str, run: str, **query: str) -> list[str]:
    page = client.get(path, query).content.decode()
    found = map(int, re.findall(r'<li id="entry-(\d+)"', page))
    types = dict(Entry.objects.filter(run__code=run).values_list("seq", "type"))
    return [types[seq] for seq in found]


def test_filters_and_search_narrow_the_timeline(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1, summary='Read "the" café'))
    command(agent, run, "git status")
    pause_at_once(agent, run, number=2)
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/{run}/"
    note = client.post(f"{path}note/", {"text": "Ask the shop first"})
    assert note.headers["Location"] == path

    assert list_types(client, path, run, show="decisions") == ["step.judged"] * 2
    assert list_types(client, path, run, show="calls") == ["call.judged"]
    assert list_types(client, path, run, show="reviews") == ["review.opened"]
    assert list_types(client, path, run, show="notes") == ["note.added"]
    assert len(list_types(client, path, run, show="other")) == 6
    assert list_types(client, path, run, q='"the" CAFé') == ["step.judged"]
    assert list_types(client, path, run, q="nowhere") == []
    page = client.get(path, {"show": "calls"}).content.decode()
    assert 'data-only="calls"' in page, "New entries of other kinds stay away."
    assert '<span class="n" id="decisions-count">2</span>' in page
    assert "Show all" in client.get(path, {"q": "nowhere"}).content.decode()


def test_what_was_measured_is_told_with_its_units(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent, budget={"tokens": 50_000, "time_ms": 3_600_000})
    agent.post(f"/runs/{run}/steps", json=step(1, tokens=1_000, duration_ms=60_000))
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/{run}/"

    page = client.get(f"{path}entries/2/").content.decode()

    assert "49,000 tokens" in page
    assert "59 m" in page
    assert "<dt>Budget slope significant</dt><dd>no</dd>" in page


def test_an_entry_opens_to_all_that_is_stored(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    hidden = "<b>bold</b> \u202etxt.exe"
    agent.post(f"/runs/{run}/steps", json=step(1, summary=hidden, uncertainty=0.95))
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/{run}/"
    entry = Entry.objects.get(run__code=run, seq=2)
    there = f"{path}entries/2/"
    assert f'hx-get="{there}"' in client.get(path).content.decode()

    part = client.get(there, headers=FRAGMENT).content.decode()

    assert "<html" not in part
    for stored in (entry.hash, entry.prev_hash, entry.payload_sha256):
        assert stored in part
    assert "uncertainty" in part
    assert "Uncertainty 0.95, over the 0.80 limit" in part
    assert "default, version 1" in part
    assert "&lt;b&gt;bold&lt;/b&gt; ⟨U+202E⟩txt.exe" in part
    assert "\u202e" not in part
    page = client.get(there).content.decode()
    assert "In the timeline" in page
    assert f"{path}?before=3#entry-2" in page
    assert f'href="{path}entries/1/" rel="prev"' in page
    assert client.get(f"{path}entries/99/").status_code == 404
    assert client.get(f"{path}entries/{10**12}/").status_code == 404


def test_a_damaged_entry_does_not_hide_the_others(
    project: Project, alice: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    for number in (1, 2, 3):
        agent.post(f"/runs/{run}/steps", json=step(number, summary=f"Step {number}"))
    with without_triggers("ledger_entry"):
        run_sql(
            "UPDATE ledger_entry SET payload = %s WHERE seq = 3 AND run_id = %s",
            ["[]", Run.objects.get(code=run).pk],
        )
    client, path = open_browser(alice.user), f"/p/{project.slug}/runs/{run}/"
    page = client.get(path).content.decode()
    assert "This entry cannot be read" in page
    assert "Step 3" in page
    assert client.get(f"{path}entries/3/").status_code == 200


def test_a_note_is_kept_in_the_ledger_without_secrets(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})
    client, path = open_browser(bob.user), f"/p/{project.slug}/runs/{run}/"
    secret = "AKIA" + "Z7XQ2M4N5P6R7S8T"
    said = client.post(f"{path}note/", {"text": f"Key {secret}"}, headers=FRAGMENT)
    assert said.status_code == 204
    refused = client.post(f"{path}note/", {"text": "  "}, headers=FRAGMENT)
    assert (refused.status_code, refused.content) == (422, b"Write the note first.")
    page = client.get(path).content.decode()
    assert "Note" in page
    assert bob.user.display_name in page
    exported = agent.get(f"/runs/{run}/ledger").text
    assert '"type":"note.added"' in exported
    assert secret not in exported
    assert "Ledger whole" in client.get(f"{path}verify/").content.decode()
    assert Run.objects.get(code=run).status == "completed"
