"""Every event, from what really happens to a receiver that checks the signature."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Project
from guidance.core.outcomes import EVALUATORS
from ledger.models import Entry
from reviews.models import RulingFact
from reviews.rulings.expiry import abandon_silent_runs, expire_due_reviews
from tests.gateway.calls.calls import command
from tests.gateway.calls.calls import rule as rule_call
from tests.reviews.rulings.test_expiry import overdue
from tests.reviews.test_abandonment import silent
from tests.support.builders import make_policy, pause_at_once, start_run, step
from tests.support.people import rule
from tests.webhooks.hooks import Hook, add, tell
from tests.webhooks.receivers import Receiver
from webhooks.delivery import fanout
from webhooks.delivery.fanout import fan_out
from webhooks.delivery.worker import deliver
from webhooks.events import CALL_WAITS
from webhooks.models import WebhookEndpoint

SECRET = "ghp_" + "Zk3Qv8Lm2Xw7Rt5Yb9Nc4Pd6Hs1Jf0Ga3Kew"


def list_received(
    receiver: Receiver, hook: Hook, path: str = "/in"
) -> list[dict[str, Any]]:
    """What arrived there, verified, in the order of the sequence."""
    bodies = [each.verified(hook.secret) for each in receiver.at(path)]
    return sorted(bodies, key=lambda body: body["sequence"])


def test_a_pause_a_ruling_and_a_stop(
    manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    run = start_run(agent)
    review = pause_at_once(agent, run)
    rule(manager, review, "approve", note="Go on, but\u202e slowly")
    agent.post(f"/runs/{run}/steps", json=step(2, coherence=0.1))
    assert deliver() == 4
    opened, paused, ruled, stopped = list_received(receiver, hook)
    assert [each["sequence"] for each in (opened, paused, ruled, stopped)] == [
        *range(1, 5)
    ]
    assert opened["type"] == "review.opened"
    assert opened["data"]["run"] == run
    assert opened["data"]["review"] | {"url": ""} == {
        "id": review,
        "kind": "pause",
        "state": "open",
        "version": 1,
        "url": "",
    }
    assert f"/queue/{review}/" in opened["data"]["review"]["url"]
    assert paused["type"] == "run.paused"
    assert paused["data"]["status"] == "paused"
    assert paused["data"]["status_reason"] == "Uncertainty 0.95, over the 0.80 limit"
    assert ruled["type"] == "review.ruled"
    assert ruled["data"]["review"]["state"] == "ruled"
    decision = agent.get(f"/runs/{run}/decision?review={review}").json()
    expected = decision["ruling"] | {"note": "Go on, but⟨U+202E⟩ slowly"}
    del expected["amended"]
    waited = ruled["data"]["ruling"].pop("waited_ms")
    assert waited == RulingFact.objects.get(ruling_id=expected["id"]).took_ms
    assert ruled["data"]["ruling"].pop("read_ms") is None  # a program has ruled
    assert ruled["data"]["ruling"] == expected
    assert ruled["data"]["review"]["version"] == decision["review"]["version"]
    assert stopped["type"] == "run.stopped"
    assert stopped["data"]["status"] == "stopped"
    assert "Coherence 0.10" in stopped["data"]["status_reason"]


def test_ends_and_expiry(
    project: Project, manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    make_policy("hasty", project=project, runs={"abandon_after_s": 60})
    hook = add(manager, receiver.url("/in"), ["review.expired", "run.finished"])
    done, silent_run, asking = (
        start_run(agent, policy=name) for name in ("default", "hasty", "default")
    )
    agent.post(f"/runs/{done}/finish", json={"outcome": "failed", "summary": "No"})
    review = pause_at_once(agent, asking)
    overdue(review)
    silent(silent_run, minutes=2)
    expire_due_reviews()
    abandon_silent_runs()
    deliver()
    bodies = list_received(receiver, hook)
    assert [(body["type"], body["data"]["run"]) for body in bodies] == [
        ("run.finished", done),
        ("review.expired", asking),
        ("run.finished", asking),
        ("run.finished", silent_run),
    ]
    finished, expired, aborted, abandoned = (body["data"] for body in bodies)
    assert (finished["status"], finished["status_reason"]) == ("failed", "No")
    assert finished["accepted"] is None
    names = [each["name"] for each in finished["evaluations"]]
    assert names == list(EVALUATORS)
    assert "evaluations" not in aborted
    assert expired["review"]["state"] == "expired"
    assert expired["review"]["version"] == 2
    assert (expired["outcome"], aborted["status"]) == ("abort", "aborted")
    assert abandoned["status"] == "abandoned"


def test_calls_wait_beside_each_other_and_carry_no_secret(
    manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    run = start_run(agent, task=f"Use {SECRET}")
    assert command(agent, run, f"rm -rf x --token {SECRET}")["decision"] == "block"
    first = command(agent, run, "rm -rf build")
    second = command(agent, run, "rm -rf /srv/other")
    rule_call(manager, first, "deny", note=f"never with {SECRET}")
    rule_call(
        manager,
        second,
        "amend",
        amended={"command": "rm -rf /srv/one"},
    )
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed", "summary": SECRET})
    deliver()
    bodies = list_received(receiver, hook)
    assert [body["type"] for body in bodies] == [
        "review.opened",
        "run.paused",
        "review.opened",
        "review.ruled",
        "review.ruled",
        "run.finished",
    ]
    sent = b"\n".join(each.body for each in receiver.arrived)
    assert SECRET.encode() not in sent
    assert b"rm -rf" not in sent
    assert bodies[1]["data"]["status_reason"] == CALL_WAITS
    ruling = bodies[4]["data"]["ruling"]
    assert ruling["action"] == "amend"
    assert ruling["grant"]
    assert "amended" not in ruling


def test_long_words_are_cut_and_said_to_be(
    manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"), ["review.ruled"])
    run = start_run(agent)
    review = agent.post(
        f"/runs/{run}/reviews", json={"kind": "question", "title": "Which?"}
    ).json()["id"]
    rule(manager, review, "answer", answer="\U0001f600" * 9_000)
    deliver()
    (body,) = list_received(receiver, hook)
    ruling = body["data"]["ruling"]
    assert ruling["truncated"] == ["answer"]
    assert len(ruling["answer"]) == 2_000
    assert len(receiver.arrived[0].body) < 20_000


def test_an_endpoint_hears_its_types_from_its_beginning_on(
    project: Project, manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    run = start_run(agent)
    pause_at_once(agent, run)
    everything = add(manager, receiver.url("/all"))
    loops = add(manager, receiver.url("/loops"), ["loop.event"])
    manager.post(f"/runs/{run}/abort", json={})
    tell(project, 2)
    deliver()
    assert [body["type"] for body in list_received(receiver, loops, "/loops")] == [
        "loop.event"
    ] * 2
    heard = [body["type"] for body in list_received(receiver, everything, "/all")]
    assert sorted(heard) == ["loop.event", "loop.event", "run.finished"]
    ids = {each.headers["webhook-id"] for each in receiver.arrived}
    assert len(ids) == 3  # an event is the same to whoever hears of it


def test_the_cursor_keeps_up_without_being_written_at_every_look(
    project: Project, manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"), ["run.finished"])
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))
    with CaptureQueriesContext(connection) as queries:
        assert fan_out() == 0
    assert len(queries) == 2
    before = hook.row.cursor
    WebhookEndpoint.objects.filter(code=hook.code).update(cursor=before - 2_000)
    assert fan_out() == 0
    head = Entry.objects.filter(project=project).latest("position").position
    assert hook.row.cursor == head


def test_what_an_endpoint_is_not_told_of_is_read_once(
    manager: httpx.Client, agent: httpx.Client
) -> None:
    """Else a flood of reviews is described again for each endpoint at every look, and the
    workers have no time for anything else."""
    hook = add(manager, "https://receiver.invalid/hook", ["run.finished"])
    pause_at_once(agent, start_run(agent))

    assert fan_out() == 0

    with CaptureQueriesContext(connection) as queries:
        assert fan_out() == 0
    assert len(queries) == 1  # nobody is behind
    assert hook.deliveries == []


def test_more_events_than_are_read_at_once_are_read_one_after_the_other(
    manager: httpx.Client, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = add(manager, "https://receiver.invalid/hook")
    for _ in range(3):
        pause_at_once(agent, start_run(agent))
    monkeypatch.setattr(fanout, "PAGE", 1)

    for _ in range(4):
        fan_out()

    assert [each.number for each in hook.deliveries] == [1, 2, 3, 4, 5, 6]


def test_many_events_of_other_types_do_not_hide_those_after_them(
    manager: httpx.Client, agent: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = add(manager, "https://receiver.invalid/hook", ["run.finished"])
    run = start_run(agent)
    pause_at_once(agent, run)
    manager.post(f"/runs/{run}/abort", json={})
    monkeypatch.setattr(fanout, "PAGE", 1)

    for _ in range(3):
        fan_out()

    assert [each.type for each in hook.deliveries] == ["run.finished"]


def test_an_event_is_published_with_what_it_tells_of(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    try:
        with transaction.atomic():
            tell(project)
            raise LookupError
    except LookupError:
        pass
    assert hook.deliveries == []
    tell(project, 3)
    assert [each.number for each in hook.deliveries] == [1, 2, 3]
    assert hook.row.sequence == 3


def test_what_does_not_fit_is_left_out_and_named(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, parameters={"a": "\U0001f600" * 5_000}, kind="k" * 19_900, at="now")
    deliver()
    (body,) = list_received(receiver, hook)
    assert body["data"] == {"n": 1, "at": "now", "truncated": ["parameters", "kind"]}


def test_a_webhook_that_is_enabled_again_hears_of_what_happens_from_then_on(
    manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"), ["run.paused"])
    manager.post(f"/webhooks/{hook.code}/disable")
    for _ in range(3):
        pause_at_once(agent, start_run(agent))
    deliver()

    enabled = manager.post(f"/webhooks/{hook.code}/enable")

    assert enabled.status_code == 200, enabled.text
    assert (deliver(), hook.states) == (0, [])
    run = start_run(agent)
    pause_at_once(agent, run)
    assert deliver() == 1
    (body,) = list_received(receiver, hook)
    assert body["data"]["run"] == run
