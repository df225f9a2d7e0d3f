"""Streams and webhooks tell of a halt and of its release."""

from __future__ import annotations

import json

import httpx

from accounts.models import Project
from ledger.models import Entry
from tests.config.fastpath.streams import listen, until_parked
from tests.reviews.halts.halting import halt, release
from tests.support.builders import start_run
from webhooks.events import build_events, filter_event_entries


def test_a_stream_tells_of_both(agent: httpx.Client, manager: httpx.Client) -> None:
    run = start_run(agent)
    with listen(agent, run) as stream:
        assert stream.entry()["type"] == "run.started"
        until_parked(run)
        made = halt(manager)
        told = stream.block()
        assert told["event"] == "halted"
        expected = {key: made[key] for key in ("id", "reason", "by", "at")}
        assert json.loads(told["data"]) == {"run": run, "halt": expected}
        release(manager, made)
        told = stream.block()
        assert told["event"] == "released"
        assert json.loads(told["data"])["halt"]["id"] == made["id"]


def test_who_comes_later_is_told_first(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    halt(reviewer)
    with listen(agent, run) as stream:
        assert stream.block()["event"] == "halted"
        assert stream.entry()["type"] == "run.started"


def test_both_are_events_for_programs(project: Project, manager: httpx.Client) -> None:
    made = halt(manager, reason="Look")
    release(manager, made, reason="Fine")
    found = Entry.objects.filter(filter_event_entries(), project=project)
    entries = list(found.select_related("run").order_by("position"))
    events = list(build_events(entries, slug=project.slug))
    assert [event.type for event in events] == ["halt.started", "halt.released"]
    assert [event.data["reason"] for event in events] == ["Look", "Fine"]
    for event in events:
        assert event.data["halt"] == made["id"]
        assert event.data["by"] == made["by"]
        assert event.data["scope"]["project"] is True
