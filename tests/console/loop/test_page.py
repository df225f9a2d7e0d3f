"""The pages of the loop: what they say, to whom, at what price."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from itertools import chain

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.live.updates import View, build_updates
from console.loop import decisions as decision_list
from console.loop import paging
from console.runs.rows import get_live_position
from loop.control.clock import run_cycle
from loop.control.switch import set_paused
from loop.inbox.notes import add_note
from loop.inbox.recommendations import add_recommendation
from loop.inbox.triggers import accept_signal
from loop.models import Decision, Incident, Note, ProjectLoop, Recommendation
from tests.console.loop.reading import TABS, get_words, rows, words
from tests.loop.history import History
from tests.support.browsing import open_browser
from tests.support.builders import Person, Robot, make_robot

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_before_anything_happened_it_says_how_it_begins(
    project: Project, bob: Person
) -> None:
    client = open_browser(bob.user)
    path = f"/p/{project.slug}/loop/"
    page = get_words(client, path)
    assert "Running" in page
    assert "none yet next within a minute" in page
    assert "Nothing decided yet" in page
    assert "Wake now" not in page
    for tab, said in zip(
        TABS[1:],
        ("No recommendations", "No notes", "No incidents", "No decisions this week"),
        strict=True,
    ):
        assert said in get_words(client, f"{path}{tab}/")
    queue = client.get(f"/p/{project.slug}/queue/").content.decode()
    assert f'href="{path}"' in queue


def test_decisions_stand_newest_first_under_their_days(
    history: History, alice: Person
) -> None:
    client = open_browser(alice.user)
    page = get_words(client, history.path())
    newest = Decision.objects.filter(project=history.project).order_by("-pk")
    assert rows(client, history) == [str(row.code) for row in newest]
    newer = page.index("Draft a recommendation Emitted")
    assert newer < page.index("Start repair Rate limited")
    assert "Start repair Emitted succeeded the login test failed." in page
    assert "Start a loop 3 of 3 this hour" in page
    assert "Cost today $0.00 of $1.00" in page
    assert "1 trigger waiting" in page
    assert re.search(r"just now next in 14 m \d+ s", page)
    assert "Today, UTC 10" in page
    today = client.get(history.path()).content.decode()
    assert re.search(r'aria-label="Today: 10 decisions, 5 emitted"', today)
    assert today.count('class="stack"') == 14


def test_filters_work_as_an_address_and_lead_on(
    history: History, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = open_browser(alice.user)
    found = Decision.objects.filter(project=history.project)
    capped, held = str(history.capped.code), str(history.held.code)
    assert rows(client, history, outcome="rate_limited") == [capped]
    assert rows(client, history, trigger="agent/loop.complete") == [held]
    assert len(rows(client, history, action="start_loop")) == 5
    assert rows(client, history, decider="llm") == []
    assert "No decision matches" in get_words(client, history.path(), decider="llm")
    today = timezone.now().date().isoformat()
    assert len(rows(client, history, day=today, action="do_nothing")) == 1
    everything = found.count()
    # What it does not know is no filter, and never an error.
    odd = {"action": "explode", "day": "9999-99-99", "before": "x"}
    assert len(rows(client, history, **odd)) == everything
    monkeypatch.setattr(decision_list, "PAGE", 3)
    seen: list[str] = []
    query = {"action": "start_loop"}
    for _ in range(2):
        page = client.get(history.path(), query).content.decode()
        seen += re.findall(r'data-open-row="([^"]+)"', page)
        older = re.search(r'href="\?([^"]+)" rel="next"', page)
        query = dict(
            part.split("=")
            for part in unescape(older[1] if older else "").split("&")
            if part
        )
    assert len(seen) == len(set(seen)) == 5
    assert older is None


def test_one_decision_tells_all_it_was_made_on(history: History, alice: Person) -> None:
    proposal = {
        "action": "emit_alert",
        "kind": None,
        "parameters": {"condition": "<script>"},
        "reasoning": "It is flaky\u202e.",
        "rule": "",
    }
    snapshot = json.loads(history.emitted.snapshot)
    snapshot["active_runs"]["stale"] = True
    snapshot["half_done"]["value"]["paused"] = 2
    snapshot["recent_log_entries"]["value"] = [
        {"type": "run.failed", "run": "r", "agent": "robo", "said": "No disk"}
    ]
    shadow = {"proposal": proposal, "trouble": None, "model": "m-1", "agrees": False}
    Decision.objects.filter(pk=history.emitted.pk).update(
        decider="shadow", snapshot=json.dumps(snapshot), shadow=json.dumps(shadow)
    )
    client = open_browser(alice.user)
    path = history.path("decisions", history.emitted.code)
    raw = client.get(path).content.decode()
    page = get_words(client, path)
    for part in (
        "Start repair the login test failed.",
        "Trigger signalled · robo",
        "Recent log entries 1 run.failed · robo: No disk",
        "Unfinished 2 2 paused",
        "Active runs 0 stale",
        "by the rule repair-what-failed",
        "The model in shadow mode m-1 disagrees Send an alert",
        "None was hit.",
        "Outcome Succeeded Mended in one step",
        "Decider Rules, model in shadow mode Policy default, version",
    ):
        assert part in page
    assert '"decision_id"' in page
    assert "<script>" not in raw.split("</head>")[1]
    assert "\u202e" not in raw
    run = ProjectLoop.objects.get(project=history.project).run
    assert run is not None
    assert f"/p/{history.project.slug}/runs/{run.code}/" in raw

    capped = get_words(client, history.path("decisions", history.capped.code))
    assert "Hourly cap start_loop was done 3 times" in capped
    assert "3, limit 3" in capped
    assert "Nothing was emitted." in capped
    held = client.get(history.path("decisions", history.held.code)).content.decode()
    review = f"/p/{history.project.slug}/queue/{history.held.review_id}/"
    assert held.count(f'href="{review}"') == 2
    assert history.path("decisions", history.held.code) in (
        client.get(review).content.decode()
    )


def test_causes_and_effects_are_linked(
    history: History, alice: Person, robo_signal: Callable[..., str]
) -> None:
    cause = history.emitted.code
    effect = robo_signal("agent/loop.complete", decision_id=str(cause), about="more")
    run_cycle(history.project.pk)
    client = open_browser(alice.user)
    paths = [history.path("decisions", code) for code in (cause, effect)]
    before, after = (client.get(path).content.decode() for path in paths)
    assert f'href="{paths[1]}"' in before
    assert "Decisions that followed from it" in before
    assert f'href="{paths[0]}"' in after
    assert "Caused by the event of this decision" in after


def test_notes_and_incidents_say_how_they_stand(
    history: History, alice: Person, bob: Person
) -> None:
    client = open_browser(bob.user)
    page = client.get(history.path("notes"))
    assert "\u202e" not in page.content.decode()
    assert "Ask for <b>a second</b> key⟨U+202E⟩ From robo just now" in words(page)
    assert f"Later From {alice.user.username}" in words(page)
    assert "unless it is confirmed Being worked on" in words(page)
    Note.objects.filter(project=history.project, text="Later").update(
        state="failed", reason="No key", ended_at=timezone.now()
    )
    assert "Processed Later No key" in get_words(client, history.path("notes"))

    tab = history.path("incidents")
    assert "The queue mail is slow high queue-slow/mail opened" in get_words(
        client, tab
    )
    assert "fired 1 more time" in get_words(client, tab)
    incident = Incident.objects.get(project=history.project)
    done = client.post(f"{tab}{incident.code}/resolve/", {"note": "Restarted"})
    assert done["Location"] == f"{tab}#incident-{incident.code}"
    assert "No incident is open." in get_words(client, tab)
    incident.refresh_from_db()
    assert incident.resolved_at is not None


def test_the_price_does_not_grow_with_what_is_listed(
    history: History, alice: Person, robo: Robot
) -> None:
    client = open_browser(alice.user)
    code = history.emitted.code

    def prices() -> list[int]:
        counted = []
        for part in (*TABS, f"decisions/{code}"):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(history.path(part)).status_code == 200
            counted.append(len(queries))
        return counted

    run_cycle(history.project.pk)  # what waits is counted only where anything does
    before = prices()
    others = [make_robot(name, project=history.project).principal for name in "ab"]
    here = history.project.pk
    for number, by in enumerate([*others, robo.principal] * 2):
        data = {"kind": "slow", "queue": str(number), "decision_id": str(code)}
        accept_signal(project_id=here, principal=by, type="system/note", data=data)
        add_note(project_id=here, principal=by, text=f"Note {number}", data={})
        add_recommendation(
            project_id=here,
            principal=by,
            title="t",
            detail="",
            change={"advice": "Rest"},
        )
    run_cycle(history.project.pk)
    assert prices() == before
    assert max(before) <= 20


def test_an_open_page_hears_of_the_loop_and_of_nothing_else(
    history: History, alice: Person, robo_signal: Callable[..., str]
) -> None:
    view = View(project_id=history.project.pk, name="loop")

    def told(act: Callable[[], object]) -> bool:
        since = get_live_position(project_id=history.project.pk)
        act()
        updates = build_updates([(view, since)])
        return any('data-touched="*"' in item.text for item in updates.values())

    assert told(lambda: run_cycle(history.project.pk))
    assert told(lambda: robo_signal())
    assert told(
        lambda: set_paused(
            project_id=history.project.pk, person=alice.principal, paused=True
        )
    )
    assert not told(lambda: None)


def test_a_clock_that_does_not_come_is_said_aloud(
    history: History, alice: Person
) -> None:
    loops = ProjectLoop.objects.filter(project=history.project)
    long_ago = timezone.now() - timedelta(hours=3)
    loops.update(heartbeat_at=long_ago, looked_at=long_ago)
    page = get_words(open_browser(alice.user), history.path())
    assert "The heartbeat is late. It was due 2 h 45 m ago" in page


@pytest.mark.parametrize(
    ("tab", "mark"),
    [
        ("recommendations", r'id="recommendation-([0-9a-f-]{36})"'),
        ("notes", "Item \\d+"),
    ],
)
def test_every_open_one_is_reached_page_by_page(
    project: Project,
    robo: Robot,
    alice: Person,
    monkeypatch: pytest.MonkeyPatch,
    tab: str,
    mark: str,
) -> None:
    monkeypatch.setattr(paging, "PAGE", 3)
    here, by = project.pk, alice.principal
    for number in range(7):
        add_note(project_id=here, principal=by, text=f"Item {number}", data={})
        add_recommendation(
            project_id=here,
            principal=by,
            title=f"Item {number}",
            detail="",
            change={"advice": "Rest"},
        )
    client, path = open_browser(alice.user), f"/p/{project.slug}/loop/{tab}/"
    seen: list[list[str]] = []
    query = ""
    for _ in range(4):
        page = client.get(path + query).content.decode()
        assert re.search(r'-title">[^<]+<span class="n">7</span>', page)
        seen.append(list(dict.fromkeys(re.findall(mark, page))))
        following = re.search(r'href="([^"]+)" rel="next"', page)
        assert ("Back to the" in page) == (query != "")
        if following is None:
            break
        query = unescape(following[1])

    assert [len(part) for part in seen] == [3, 3, 1]
    if tab == "notes":
        assert [*chain(*seen)] == [f"Item {number}" for number in range(7)]
    else:
        newest = Recommendation.objects.filter(project=project).order_by("-pk")
        assert [*chain(*seen)] == [str(row.code) for row in newest]
    # What nobody gave out is the first page, and never an error.
    odd = client.get(path, {"before": "x", "after": "x"}).content.decode()
    assert list(dict.fromkeys(re.findall(mark, odd))) == seen[0]
