"""How much is sent at a time, for how long, and what is done when something fails."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import timedelta

import httpx
import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Project
from tests.webhooks.hooks import Hook, add, tell
from tests.webhooks.receivers import Arrived, Receiver, answer, ok
from webhooks import services
from webhooks.delivery import worker
from webhooks.delivery.attempt import REPLY_LIMIT, Outcome
from webhooks.delivery.http_pool import CONCURRENT_PER_ENDPOINT, HttpPool
from webhooks.delivery.leases import lease_due_deliveries
from webhooks.delivery.results import ERROR_KEPT, record_outcomes
from webhooks.delivery.worker import deliver
from webhooks.models import Delivery, DeliveryAttempt, WebhookEndpoint

pytestmark = pytest.mark.once("counts what is sent, not what is stored")


class Capacity:
    """So many in all, and so many for one endpoint."""

    def __init__(self, free: int, for_one: int) -> None:
        self.free = free
        self.for_one = for_one

    def count_free(self, endpoint_id: int, *, failing: bool) -> int:
        return self.for_one


def last_attempt(hook: Hook) -> DeliveryAttempt:
    found = DeliveryAttempt.objects.filter(delivery__endpoint__code=hook.code)
    return found.latest("pk")


def test_the_oldest_are_sent_first_and_all_receivers_share_what_is_free(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hooks = [add(manager, receiver.url("/in")) for _ in range(2)]
    tell(project, 4)
    older = timezone.now() - timedelta(minutes=1)
    last = hooks[0].deliveries[-1]
    Delivery.objects.filter(pk=last.pk).update(due_at=older)

    leased = lease_due_deliveries(Capacity(free=5, for_one=3))

    sequences = [
        [each.number for each in hook.deliveries if each.state == "leased"]
        for hook in hooks
    ]
    assert sequences == [[1, 2, 4], [1, 2]]
    assert leased[0].delivery_id == last.pk


def test_one_with_more_in_flight_than_it_may_have_now_gets_nothing_more(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    """It had many at once when it began to fail."""
    hook = add(manager, receiver.url("/in"))
    tell(project, 2)

    assert lease_due_deliveries(Capacity(free=5, for_one=-62)) == []
    assert hook.states == ["queued"] * 2


def test_in_one_turn_more_are_sent_than_are_leased_at_once(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    """What has an outcome makes room; and only so many reach a receiver together."""
    together, most, full = 0, 0, asyncio.Event()

    async def count(arrived: Arrived, writer: asyncio.StreamWriter) -> None:
        nonlocal together, most
        together += 1
        most = max(most, together)
        if most == CONCURRENT_PER_ENDPOINT:
            full.set()
        await full.wait()
        await asyncio.sleep(0.05)  # one more would be here by then
        together -= 1
        await ok(arrived, writer)

    receiver.behaviours["/in"] = count
    add(manager, receiver.url("/in"))
    tell(project, 70)

    assert deliver() == 70
    assert most == CONCURRENT_PER_ENDPOINT


def test_each_webhook_has_connections_of_its_own() -> None:
    """One that was opened for a name must not carry what is meant for another."""
    with HttpPool() as pool:
        first, second = pool._get_client(1), pool._get_client(2)
        assert pool._get_client(1) is first
        assert first.client is not second.client
        assert first.slots is not second.slots


def test_a_name_server_that_hangs_holds_nobody_else_up(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    stuck = [add(manager, f"https://stuck-{n}.invalid/") for n in range(8)]
    well = add(manager, receiver.url("/in"))
    answered = threading.Event()

    def look_up(host: str, _port: int) -> Sequence[str]:
        if host.startswith("stuck"):
            answered.wait(20)
        return ["127.0.0.1"]

    tell(project)
    try:
        deliver(HttpPool(resolver=look_up, time_limit_s=1))
    finally:
        answered.set()
    assert well.states == ["delivered"]
    assert {last_attempt(hook).error for hook in stuck} == {
        "no complete answer within 1 s"
    }


def test_an_error_of_ours_is_a_failed_attempt_like_any_other(
    project: Project, manager: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    hook = add(manager, "https://hooks.invalid/")

    def look_up(_host: str, _port: int) -> Sequence[str]:
        raise RuntimeError("a fault of ours")

    tell(project)
    assert deliver(HttpPool(resolver=look_up)) == 1
    assert hook.states == ["retry_wait"]
    assert last_attempt(hook).error == "not sent: RuntimeError"
    assert "failed unexpectedly" in caplog.text


def test_after_its_turn_a_worker_takes_nothing_new(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    monkeypatch.setattr(worker, "TURN_S", 0.0)
    assert (deliver(), hook.states) == (0, ["queued"])


def test_what_is_answered_while_a_process_ends_is_kept(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ending = threading.Event()
    ended, hand_over = threading.Event(), worker._hand_over

    def hand_over_and_say_so(pool: HttpPool) -> None:
        ended.set()
        hand_over(pool)

    monkeypatch.setattr(worker, "_hand_over", hand_over_and_say_so)
    monkeypatch.setattr(worker, "LAST_S", 60.0)
    monkeypatch.setattr(worker, "_stopping", ending)
    monkeypatch.setattr(worker, "PAUSE_S", 0.01)

    async def end_then_answer(arrived: Arrived, writer: asyncio.StreamWriter) -> None:
        ending.set()
        assert await asyncio.to_thread(ended.wait, 60)
        await ok(arrived, writer)

    receiver.behaviours["/in"] = end_then_answer
    hook = add(manager, receiver.url("/in"))
    tell(project)

    assert (deliver(), hook.states) == (1, ["delivered"])


def test_a_database_that_stays_away_is_told_and_the_next_turn_works(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    tried: list[str] = []

    def away(name: str) -> object:
        def fail(*_given: object) -> None:
            tried.append(name)
            raise OperationalError("gone")

        return fail

    monkeypatch.setattr(worker, "PAUSE_S", 0.01)
    for name, times in (("lease_due_deliveries", 1), ("record_outcomes", worker.TRIES)):
        tried.clear()
        with monkeypatch.context() as broken:
            broken.setattr(worker, name, away(name))
            with pytest.raises(OperationalError):
                deliver()
        assert tried == [name] * times
    hook.make_due()  # the lease has run out
    assert (deliver(), hook.states) == (1, ["delivered"])


def test_a_good_answer_asks_for_no_rest_and_the_first_failure_is_when_it_began(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/in"] = answer(500)
    hook = add(manager, receiver.url("/in"))
    tell(project)
    deliver()
    began = hook.row.failing_since
    assert (began, hook.row.quiet_until) == (last_attempt(hook).at, None)
    hook.make_due()
    deliver()
    assert hook.row.failing_since == began

    receiver.behaviours["/in"] = answer(200, retry_after="120")
    hook.make_due()
    deliver()

    assert (hook.states, hook.row.failing_since) == (["delivered"], None)
    assert hook.row.quiet_until is None


def test_the_longer_rest_counts_and_an_overload_is_one_without_words(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    rows = {429: (120, 120), 502: (0, 1), 503: (0, 1), 504: (0, 1), 404: (0, 0)}
    hooks = {}
    for status, (asked, _) in rows.items():
        receiver.behaviours[f"/{status}"] = (
            answer(status, retry_after=str(asked)) if asked else answer(status)
        )
        hooks[status] = add(manager, receiver.url(f"/{status}"))
    tell(project)
    before = timezone.now()
    deliver()
    for status, (_, rest) in rows.items():
        until = hooks[status].row.quiet_until
        if rest:
            assert until is not None, status
            assert until - before >= timedelta(seconds=rest), status
        else:
            assert until is None, status


@pytest.mark.parametrize(
    "asked",
    [
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999999",
        "Mon, 99999999999999999999 Jan 2024 00:00:00 GMT",
    ],
)
def test_a_date_that_no_clock_can_hold_stops_nobody(
    project: Project, manager: httpx.Client, receiver: Receiver, asked: str
) -> None:
    """Outcomes are stored together: those of the other receivers would be lost."""
    receiver.behaviours["/odd"] = answer(503, retry_after=asked)
    odd, well = (add(manager, receiver.url(path)) for path in ("/odd", "/well"))
    tell(project)

    deliver()

    assert (odd.states, well.states) == (["retry_wait"], ["delivered"])


def test_what_is_kept_of_a_failure_is_bounded(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    (leased,) = lease_due_deliveries(Capacity(free=1, for_one=1))
    record_outcomes(
        [Outcome(delivery=leased, at=timezone.now(), duration_ms=7, error="x" * 1_000)]
    )
    kept = last_attempt(hook)
    assert (len(kept.error), kept.error[-1], kept.duration_ms) == (ERROR_KEPT, "…", 7)


def test_a_reply_may_be_as_long_as_the_limit(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours = {
        "/fits": answer(299, b"x" * REPLY_LIMIT),
        "/not": answer(200, b"x" * (REPLY_LIMIT + 1)),
        "/none": answer(204),
    }
    hooks = [add(manager, receiver.url(path)) for path in receiver.behaviours]
    tell(project)
    deliver()
    assert [hook.states for hook in hooks] == [
        ["delivered"],
        ["retry_wait"],
        ["delivered"],
    ]


def test_a_receiver_is_told_what_it_gets_and_by_whom(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    add(manager, receiver.url("/in?team=a"))
    tell(project)
    deliver()
    (arrived,) = receiver.arrived
    told = {
        name: arrived.headers[name]
        for name in ("content-type", "user-agent", "accept-encoding", "host")
    }
    assert told == {
        "content-type": "application/json",
        "user-agent": "Checkrail-Webhooks/1",
        "accept-encoding": "identity",
        "host": f"127.0.0.1:{receiver.port}",
    }
    assert arrived.path == "/in?team=a"


def test_so_many_old_deliveries_are_deleted_at_a_time(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project, 5)
    long_ago = timezone.now() - services.KEEP_FOR
    for delivery, minutes in zip(hook.deliveries[:4], (9, 9, 9, -9), strict=True):
        Delivery.objects.filter(pk=delivery.pk).update(
            state="dead", ended_at=long_ago - timedelta(minutes=minutes)
        )
    monkeypatch.setattr(services, "DELETE_AT_ONCE", 2)

    assert [services.delete_old_deliveries() for _ in range(3)] == [2, 1, 0]
    assert [each.number for each in hook.deliveries] == [4, 5]


def test_a_name_that_takes_too_long_to_look_up_may_be_saved(
    manager: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be set up later, but it has to be https: nobody knows where it leads."""
    answered = threading.Event()

    def slowly(_host: str, _port: int) -> Sequence[str]:
        answered.wait(20)
        return ["93.184.216.34"]

    monkeypatch.setattr(services, "resolve", slowly)
    monkeypatch.setattr(services, "LOOKUP_TIMEOUT_S", 0.01)
    types = ["run.stopped"]
    try:
        made = [
            manager.post("/webhooks", json={"url": url, "types": types})
            for url in ("https://slow.example/", "http://slow.example/")
        ]
    finally:
        answered.set()
    assert [each.status_code for each in made] == [201, 422]
    assert made[1].json()["errors"][0]["loc"] == ["url"]
    assert WebhookEndpoint.objects.count() == 1
