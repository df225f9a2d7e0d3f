"""Couriers: two at once, one that is killed, one that ends, and a receiver that flaps."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import httpx
import pytest
from django.db import OperationalError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from config.celery import app
from tests.support.builders import pause_at_once, start_run
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Arrived, Receiver, answer, close, hang, ok
from webhooks.delivery import leases, worker
from webhooks.delivery.attempt import Outcome
from webhooks.delivery.fanout import fan_out
from webhooks.delivery.http_pool import HttpPool
from webhooks.delivery.leases import lease_due_deliveries, release_leases
from webhooks.delivery.results import record_outcomes
from webhooks.delivery.worker import deliver
from webhooks.models import Delivery, WebhookEndpoint
from webhooks.services import KEEP_FOR, delete_old_deliveries
from webhooks.tasks import deliver_webhooks

EVENTS = 200


class Capacity:
    """As much as one likes."""

    free = 10_000

    def count_free(self, endpoint_id: int, *, failing: bool) -> int:
        return self.free


def at_once(count: int, work: object) -> list[object]:
    """The same in several threads that begin together."""
    start = threading.Barrier(count)

    def begin(_number: int) -> object:
        start.wait()
        try:
            return work()  # type: ignore[operator]
        finally:
            connection.close()

    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(begin, range(count)))


def test_several_that_read_the_ledger_at_once_make_one_delivery_each(
    manager: httpx.Client, agent: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    for round_ in range(1, 6):
        pause_at_once(agent, start_run(agent))
        made = at_once(4, fan_out)
        assert sorted(made) == [0, 0, 0, 2]  # type: ignore[type-var]
        numbers = [each.number for each in hook.deliveries]
        assert numbers == list(range(1, 2 * round_ + 1))


def test_several_that_lease_at_once_never_take_the_same(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, 60)
    taken = at_once(4, lambda: lease_due_deliveries(Capacity()))
    leased = [delivery for some in taken for delivery in some]  # type: ignore[attr-defined]
    assert len(leased) == len({each.delivery_id for each in leased}) == 60
    assert {each.attempts for each in hook.deliveries} == {1}


def test_killed_between_sending_and_saying_so_it_is_sent_again_the_same(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    (each,) = lease_due_deliveries(Capacity())
    with HttpPool() as pool:
        pool.send(each)
        (outcome,) = pool.collect_outcomes(within=60, gather=0)
    # Here the process dies: what it knows of the answer dies with it.
    assert deliver() == 0  # the lease still stands
    hook.make_due()
    assert deliver() == 1
    first, second = receiver.arrived
    assert first.body == second.body
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    record_outcomes(
        [outcome]
    )  # it was not dead but slow: too late, the lease is another's
    (delivery,) = hook.deliveries
    assert (delivery.state, delivery.attempts) == ("delivered", 2)
    assert [each.number for each in delivery.tries.all()] == [2]


def test_only_who_holds_the_lease_says_how_it_went(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    """A slow one's lease was taken over, and the other is still at it."""
    hook = add(manager, receiver.url("/in"))
    tell(project)
    (slow,) = lease_due_deliveries(Capacity())
    hook.make_due()
    (quick,) = lease_due_deliveries(Capacity())
    assert slow.delivery_id == quick.delivery_id
    assert slow.lease != quick.lease
    now = timezone.now()

    for error in ("", "It did not answer"):
        record_outcomes([Outcome(delivery=slow, at=now, duration_ms=1, error=error)])
        (delivery,) = hook.deliveries
        assert (delivery.state, delivery.leased_by) == ("leased", quick.lease)
        assert not delivery.tries.exists()

    record_outcomes([Outcome(delivery=quick, at=now, duration_ms=1, status=200)])
    (delivery,) = hook.deliveries
    assert delivery.state == "delivered"
    assert [each.number for each in delivery.tries.all()] == [2]


def test_only_who_holds_the_lease_gives_it_back(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    slow = lease_due_deliveries(Capacity())
    hook.make_due()
    quick = lease_due_deliveries(Capacity())

    release_leases(slow)
    assert lease_due_deliveries(Capacity()) == []

    release_leases(quick)
    assert len(lease_due_deliveries(Capacity())) == 1


def test_a_process_that_ends_leaves_its_work_to_the_next(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker, "LAST_S", 0.2)
    ending = threading.Event()
    monkeypatch.setattr(worker, "_stopping", ending)
    receiver.behaviours["/in"] = hang
    hook = add(manager, receiver.url("/in"))
    tell(project, 3)
    threading.Timer(0.5, ending.set).start()
    assert deliver() == 3
    assert hook.states == ["leased"] * 3
    ending.clear()
    receiver.behaviours.clear()
    assert deliver() == 3
    assert hook.states == ["delivered"] * 3


def test_trouble_with_the_database_loses_no_answer(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, 3)
    calls: Counter[str] = Counter()

    def failing(name: str, times: range) -> None:
        real = getattr(worker, name)

        def work(*arguments: object) -> object:
            calls[name] += 1
            if calls[name] in times:
                raise OperationalError("database is locked")
            return real(*arguments)

        monkeypatch.setattr(worker, name, work)

    async def slowly(arrived: Arrived, writer: asyncio.StreamWriter) -> None:
        while calls["lease_due_deliveries"] <= 3:
            await asyncio.sleep(0.01)
        await ok(arrived, writer)

    receiver.behaviours["/in"] = slowly
    failing("lease_due_deliveries", range(2, 4))
    failing("record_outcomes", range(1, 3))
    monkeypatch.setattr(worker, "PAUSE_S", 0.02)
    deliver()
    assert hook.states == ["delivered"] * 3
    assert len(receiver.arrived) == 3
    assert calls["lease_due_deliveries"] > 3
    assert calls["record_outcomes"] > 2


def test_what_is_deleted_or_disabled_meanwhile_is_not_in_the_way(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/in"] = answer(500)
    gone, off = (add(manager, receiver.url("/in")) for _ in range(2))
    tell(project)
    leased = lease_due_deliveries(Capacity())
    with HttpPool() as pool:
        for each in leased:
            pool.send(each)
        outcomes = pool.collect_outcomes(within=60, gather=60)
    assert manager.delete(f"/webhooks/{gone.code}").status_code == 204
    manager.post(f"/webhooks/{off.code}/disable")
    record_outcomes(outcomes)
    assert off.states == ["cancelled"]
    release_leases(leased)
    assert not Delivery.objects.filter(endpoint__code=gone.code).exists()


def test_one_that_fails_takes_no_more_than_its_share(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    with HttpPool() as pool:
        assert pool.count_free(1, failing=False) == 64
        assert pool.count_free(1, failing=True) == 2
        tell(project, 100)
        assert len(lease_due_deliveries(pool)) == 64
        Delivery.objects.all().delete()
        WebhookEndpoint.objects.update(failing_since=timezone.now())
        tell(project, 100)
        assert len(lease_due_deliveries(pool)) == 2
    assert len(hook.deliveries) == 100


def test_an_idle_look_is_cheap_and_only_one_worker_runs_in_a_process(
    database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never() -> HttpPool:
        raise AssertionError

    monkeypatch.setattr(worker, "HttpPool", never)
    with CaptureQueriesContext(connection) as queries:
        assert deliver() == 0
    assert len(queries) == 2
    with worker._turn:
        monkeypatch.setattr(worker, "fan_out", never)
        assert deliver() == 0


def flapping() -> object:
    """Fails every third time, in turn by an error, a lost connection and a 503."""
    turns = itertools.cycle([ok, ok, answer(500), ok, ok, close, ok, ok, answer(503)])

    async def behave(arrived: Arrived, writer: asyncio.StreamWriter) -> None:
        await next(turns)(arrived, writer)

    return behave


def test_a_flapping_receiver_gets_every_event_in_a_verifiable_order(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    receiver.behaviours["/in"] = flapping()  # type: ignore[assignment]
    hook = add(manager, receiver.url("/in"))
    tell(project, EVENTS)
    for _ in range(20):
        if set(hook.states) == {"delivered"}:
            break
        hook.make_due()
        deliver()
    assert Counter(hook.states) == {"delivered": EVENTS}
    bodies = [each.verified(hook.secret) for each in receiver.arrived]
    assert {body["sequence"] for body in bodies} == set(range(1, EVENTS + 1))
    assert all(body["sequence"] == body["data"]["n"] for body in bodies)
    ids = {(each.headers["webhook-id"], each.body) for each in receiver.arrived}
    assert len(ids) == EVENTS
    assert len(bodies) > EVENTS * 4 / 3
    assert timedelta(seconds=60) < leases.LEASE_TIME


def test_what_ended_long_ago_is_forgotten(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, 3)
    deliver()
    tell(project)
    old = hook.deliveries[0]
    Delivery.objects.filter(pk=old.pk).update(
        ended_at=timezone.now() - KEEP_FOR - timedelta(hours=1)
    )
    assert delete_old_deliveries() == 1
    assert [each.number for each in hook.deliveries] == [2, 3, 4]


def test_beat_knocks_where_workers_listen() -> None:
    entry = app.conf.beat_schedule["deliver-webhooks"]
    assert entry["task"] == deliver_webhooks.name
    consumed = app.amqp.queues.consume_from
    assert set(consumed) == {"checkrail", entry["options"]["queue"]}
    assert {queue.routing_key for queue in consumed.values()} == set(consumed)
    assert app.conf.task_default_queue in consumed


def test_healthy_receivers_are_served_before_failing_ones(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    failing, healthy = (add(manager, receiver.url("/in")) for _ in range(2))
    WebhookEndpoint.objects.filter(pk=failing.row.pk).update(
        failing_since=timezone.now()
    )
    tell(project)

    leased = lease_due_deliveries(Capacity())

    order = [each.endpoint_id for each in leased]
    assert order == [healthy.row.pk, failing.row.pk]
