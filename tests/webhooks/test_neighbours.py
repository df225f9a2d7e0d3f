"""What happens to one webhook or delivery happens to that one, and to none beside it."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import Membership, Project, Role
from common.errors import Invalid
from common.ids import uuid7
from tests.conftest import client_for
from tests.support.builders import (
    Person,
    make_project,
    make_robot,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.webhooks.hooks import Hook, add, tell
from tests.webhooks.receivers import Receiver, answer
from tests.webhooks.test_worker import Capacity
from webhooks import services
from webhooks.delivery import fanout
from webhooks.delivery.fanout import fan_out, publish, publish_to_endpoint
from webhooks.delivery.leases import lease_due_deliveries
from webhooks.delivery.results import GONE_REASON
from webhooks.delivery.worker import deliver
from webhooks.events import Event, build_events
from webhooks.models import Delivery, WebhookEndpoint

LATER = timedelta(hours=1)


def end(hook: Hook, *states: str) -> None:
    """Its deliveries have ended so, in their order."""
    now = timezone.now()
    for delivery, state in zip(hook.deliveries, states, strict=True):
        Delivery.objects.filter(pk=delivery.pk).update(state=state, ended_at=now)


def test_one_that_is_disabled_leaves_the_queue_of_the_others(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    off, on = (add(manager, receiver.url("/in")) for _ in range(2))
    tell(project, 2)
    end(off, "delivered", "dead")
    tell(project)

    manager.post(f"/webhooks/{off.code}/disable")

    assert off.states == ["delivered", "dead", "cancelled"]
    assert on.states == ["queued"] * 3
    assert (on.row.status, on.row.status_reason) == ("active", "")
    assert deliver() == 3


def test_why_a_webhook_was_disabled_first_stays_what_is_said(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/gone"] = answer(410)
    hook = add(manager, receiver.url("/gone"))
    tell(project)
    deliver()
    at = hook.row.status_at

    told = manager.post(f"/webhooks/{hook.code}/disable").json()

    assert told["status_reason"] == GONE_REASON
    assert hook.row.status_at == at


def test_a_lease_that_ran_out_is_not_taken_for_a_disabled_webhook(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    assert len(lease_due_deliveries(Capacity())) == 1
    manager.post(f"/webhooks/{hook.code}/disable")
    assert hook.states == ["leased"]  # its worker has not said yet how it went
    hook.make_due()

    assert lease_due_deliveries(Capacity()) == []
    assert deliver() == 0


def test_a_rotation_is_of_one_webhook_alone(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    turned, other = (add(manager, receiver.url(path)) for path in ("/a", "/b"))

    manager.post(f"/webhooks/{turned.code}/rotate")

    tell(project)
    deliver()
    (arrived,) = receiver.at("/b")
    arrived.verified(other.secret)
    assert " " not in arrived.headers["webhook-signature"]
    read = manager.get(f"/webhooks/{turned.code}").json()
    assert read["previous_secret_until"] is not None
    WebhookEndpoint.objects.update(previous_until=timezone.now())
    read = manager.get(f"/webhooks/{turned.code}").json()
    assert read["previous_secret_until"] is None  # it signs no more


def test_one_that_is_enabled_begins_anew_and_the_others_stay_disabled(
    manager: httpx.Client, receiver: Receiver
) -> None:
    hook, other = (add(manager, receiver.url("/in")) for _ in range(2))
    for each in (hook, other):
        manager.post(f"/webhooks/{each.code}/disable")
    now = timezone.now()
    WebhookEndpoint.objects.update(quiet_until=now + LATER, failing_since=now)

    enabled = manager.post(f"/webhooks/{hook.code}/enable").json()

    assert (enabled["status_reason"], enabled["failing_since"]) == ("", None)
    assert hook.row.quiet_until is None
    assert (other.row.status, other.row.failing_since) == ("disabled", now)


def test_to_enable_one_that_is_on_already_skips_no_event(
    manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"), ["run.paused"])
    pause_at_once(agent, start_run(agent))
    since = hook.row.status_at

    assert manager.post(f"/webhooks/{hook.code}/enable").status_code == 200

    assert deliver() == 1
    assert hook.row.status_at == since


def test_a_test_event_ends_the_rest_of_its_own_receiver_alone(
    manager: httpx.Client, receiver: Receiver
) -> None:
    hook, other = (add(manager, receiver.url("/in")) for _ in range(2))
    until = timezone.now() + LATER
    WebhookEndpoint.objects.update(quiet_until=until)

    manager.post(f"/webhooks/{hook.code}/test")

    assert (hook.row.quiet_until, other.row.quiet_until) == (None, until)
    assert (deliver(), other.states) == (1, [])


def test_one_delivery_is_sent_again_and_none_beside_it(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook, other = (add(manager, receiver.url("/in")) for _ in range(2))
    tell(project, 3)
    end(hook, "dead", "dead", "delivered")
    end(other, "dead", "cancelled", "delivered")
    first = hook.deliveries[0]

    sent = manager.post(f"/webhooks/deliveries/{first.code}/resend")

    assert sent.json()["next_attempt_at"] is not None
    assert hook.states == ["queued", "dead", "delivered"]
    assert services.resend_dead_deliveries(hook.row) == 1
    assert hook.states == ["queued", "queued", "delivered"]
    assert other.states == ["dead", "cancelled", "delivered"]
    manager.post(f"/webhooks/{other.code}/disable")
    with pytest.raises(Invalid, match="enable it first"):
        services.resend_dead_deliveries(other.row)


def test_webhooks_of_other_projects_take_no_place(
    project: Project,
    alice: Person,
    manager: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "ENDPOINTS_LIMIT", 1)
    other = make_project()
    Membership.objects.create(project=other, user=alice.user, role=Role.MANAGER)
    body = {"url": "https://93.184.216.34/in", "types": ["run.stopped"]}
    statuses = [
        manager.post("/webhooks", json={**body, "project": slug}).status_code
        for slug in (project.slug, other.slug, project.slug)
    ]
    assert statuses == [201, 201, 422]


def test_events_go_to_their_own_project_to_who_asked_for_them_and_is_on(
    project: Project, alice: Person, manager: httpx.Client, receiver: Receiver
) -> None:
    other = make_project()
    Membership.objects.create(project=other, user=alice.user, role=Role.MANAGER)
    body = {"url": receiver.url("/in"), "project": other.slug}
    made = manager.post("/webhooks", json={**body, "types": ["loop.event"]}).json()
    theirs = Hook(made["id"], made["secret"])
    here = {"url": receiver.url("/in"), "project": project.slug}
    hooks = [
        manager.post("/webhooks", json={**here, "types": types}).json()["id"]
        for types in (["loop.event"], ["run.paused"], ["loop.event"])
    ]
    ours, unasked, off = (Hook(code, "") for code in hooks)
    manager.post(f"/webhooks/{off.code}/disable")
    event = Event(id=uuid7(), type="loop.event", at=timezone.now(), data={})

    with transaction.atomic():
        assert publish(project_id=project.pk, event=event) == 1

    assert [len(each.deliveries) for each in (ours, unasked, off, theirs)] == [
        *(1, 0, 0, 0)
    ]
    with pytest.raises(RuntimeError, match="transaction"):
        publish_to_endpoint(ours.row.pk, event)


def test_the_ledger_of_another_project_is_no_event_here(
    live: Live, manager: httpx.Client, receiver: Receiver
) -> None:

    hook = add(manager, receiver.url("/in"))
    with client_for(live, make_robot(project=make_project())) as stranger:
        pause_at_once(stranger, start_run(stranger))
    WebhookEndpoint.objects.update(cursor=-10)
    with client_for(live, make_robot(project=hook.row.project)) as agent:
        start_run(agent)

    fan_out()

    assert hook.deliveries == []


def test_trouble_with_one_webhook_does_not_stop_the_others(
    manager: httpx.Client,
    agent: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hooks = [add(manager, receiver.url("/in"), ["run.paused"]) for _ in range(2)]
    pause_at_once(agent, start_run(agent))
    calls = iter([1])

    def fail_once(*given: object, **named: object) -> object:
        if next(calls, None):
            raise LookupError("an entry that cannot be read")
        return build_events(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(fanout, "build_events", fail_once)

    assert fan_out() == 1
    assert "could not be read" in caplog.text
    assert fan_out() == 1  # the next look tries again
    assert [len(hook.deliveries) for hook in hooks] == [1, 1]


def test_one_that_is_disabled_while_the_ledger_is_read_gets_nothing(
    manager: httpx.Client,
    agent: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = add(manager, receiver.url("/in"), ["run.paused"])
    pause_at_once(agent, start_run(agent))
    cursor = hook.row.cursor

    def disable_meanwhile(*given: object, **named: object) -> object:
        manager.post(f"/webhooks/{hook.code}/disable")
        return build_events(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(fanout, "build_events", disable_meanwhile)

    assert fan_out() == 0
    assert (hook.deliveries, hook.row.cursor) == ([], cursor)
