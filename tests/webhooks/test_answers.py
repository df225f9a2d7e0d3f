"""Receivers as they are: they fail, hang, drip, redirect, flood, go away, want a rest."""

from __future__ import annotations

from asyncio import StreamWriter
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from tests.webhooks.certificates import Authority
from tests.webhooks.hooks import Hook, add, tell
from tests.webhooks.receivers import (
    Arrived,
    Receiver,
    answer,
    close,
    drip,
    flood,
    hang,
    receiving,
)
from webhooks.delivery import worker
from webhooks.delivery.http_pool import CONCURRENT_PER_ENDPOINT, HttpPool
from webhooks.delivery.results import GONE_REASON, REPLY_KEPT
from webhooks.delivery.retry_schedule import (
    DELAYS_S,
    OVERLOAD_REST_S,
    get_next_due,
    parse_retry_after,
)
from webhooks.delivery.worker import deliver
from webhooks.models import Delivery, DeliveryAttempt

pytestmark = pytest.mark.once("judges addresses and answers, not what is stored")


def last_attempt(hook: Hook) -> DeliveryAttempt:
    (delivery,) = hook.deliveries
    return delivery.tries.get()


def test_trouble_of_every_kind_is_one_failed_attempt_and_holds_nobody_up(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    behaviours = {
        "/500": (answer(500, b"password=hunter2hunter2 \x1b[2J"), 500, "answered 500"),
        "/404": (answer(404), 404, "answered 404"),
        "/301": (
            answer(301, location="/elsewhere"),
            301,
            "answered 301: redirects are not followed",
        ),
        "/308": (
            answer(308, location="http://169.254.169.254/latest"),
            308,
            "answered 308: redirects are not followed",
        ),
        "/304": (answer(304), 304, "answered 304: redirects are not followed"),
        "/hang": (hang, None, "no complete answer within 4 s"),
        "/drip": (drip, None, "no complete answer within 4 s"),
        "/flood": (flood(receiver), 200, "the reply is longer than 65,536 bytes"),
        "/close": (close, None, "the connection broke before the answer was complete"),
    }
    receiver.behaviours = {path: each[0] for path, each in behaviours.items()}
    hooks = {path: add(manager, receiver.url(path)) for path in behaviours}
    well = add(manager, receiver.url("/well"))
    nobody = add(manager, "http://127.0.0.1:9/")
    tell(project)
    deliver(HttpPool(time_limit_s=4))
    for path, (_, status, error) in behaviours.items():
        attempt = last_attempt(hooks[path])
        assert (attempt.status, attempt.error) == (status, error), path
        assert hooks[path].states == ["retry_wait"]
        assert hooks[path].row.failing_since is not None
        assert len(receiver.at(path)) == 1
    assert receiver.at("/elsewhere") == []
    assert receiver.sent_bytes < 16_000_000
    assert last_attempt(nobody).error == "no connection could be made"
    assert well.states == ["delivered"]
    assert last_attempt(well).reply == "thanks"
    delivered, hung = last_attempt(well), last_attempt(hooks["/hang"])
    assert delivered.at + timedelta(milliseconds=delivered.duration_ms) < hung.at + (
        timedelta(milliseconds=hung.duration_ms)
    )
    kept = last_attempt(hooks["/500"]).reply
    assert "hunter2" not in kept
    assert kept.endswith("⟨U+001B⟩[2J")


def test_certificates_are_the_names_own(
    project: Project,
    manager: httpx.Client,
    tmp_path: Path,
    settings: pytest.FixtureRequest,
) -> None:
    settings.WEBHOOK_ALLOW = ("127.0.0.0/8",)  # type: ignore[attr-defined]
    authority, stranger = Authority.of(tmp_path), Authority.of(tmp_path)
    with (
        receiving(tls=authority.server("good.test")) as good,
        receiving(tls=authority.server("other.test")) as wrong_name,
        receiving(tls=stranger.server("self.test")) as unknown,
    ):
        hooks = [
            add(manager, good.url("/", name="good.test")),
            add(manager, wrong_name.url("/", name="wrong.test")),
            add(manager, unknown.url("/", name="self.test")),
        ]
        tell(project)
        sender = HttpPool(
            resolver=lambda _host, _port: ["127.0.0.1"],
            certificates=authority.trusting(),
            time_limit_s=5,
        )
        deliver(sender)
        fine, misnamed, untrusted = map(last_attempt, hooks)
        assert fine.ok
        (arrived,) = good.arrived
        assert arrived.headers["host"] == f"good.test:{good.port}"
        assert arrived.verified(hooks[0].secret)["data"] == {"n": 1}
        assert misnamed.error.startswith(
            "its certificate was refused: Hostname mismatch"
        )
        assert untrusted.error.startswith("its certificate was refused: ")
        assert wrong_name.arrived == unknown.arrived == []


def test_410_disables_and_what_waits_is_cancelled(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/gone"))
    tell(project)
    Delivery.objects.filter(endpoint__code=hook.code).update(
        due_at=timezone.now() + timedelta(hours=1)
    )
    receiver.behaviours["/gone"] = answer(410)
    tell(project)
    deliver()
    assert hook.states == ["cancelled", "dead"]
    assert (hook.row.status, hook.row.status_reason) == ("disabled", GONE_REASON)
    tell(project)
    assert len(hook.deliveries) == 2
    first = str(hook.deliveries[0].code)
    refused = manager.post(f"/webhooks/deliveries/{first}/resend")
    assert refused.status_code == 422
    del receiver.behaviours["/gone"]
    assert manager.post(f"/webhooks/{hook.code}/enable").json()["status"] == "active"
    for each in hook.deliveries:
        again = manager.post(f"/webhooks/deliveries/{each.code}/resend")
        assert again.status_code == 202, again.text
        assert again.json()["state"] == "queued"
    tell(project)
    deliver()
    assert hook.states == ["delivered"] * 3
    numbers = sorted(
        each.verified(hook.secret)["sequence"] for each in receiver.arrived
    )
    assert numbers == [1, 2, 2, 3]


def test_a_rest_that_is_asked_for_is_given(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/busy"] = answer(429, retry_after="120")
    hook = add(manager, receiver.url("/busy"))
    tell(project)
    deliver()
    tell(project, 5)
    deliver()
    assert len(receiver.arrived) == 1
    (first, *others) = hook.deliveries
    wait = first.due_at - timezone.now()
    assert timedelta(seconds=110) < wait < timedelta(seconds=121)
    assert {each.state for each in others} == {"queued"}
    hook.make_due()
    del receiver.behaviours["/busy"]
    deliver()
    assert hook.states == ["delivered"] * 6
    assert hook.row.failing_since is None


def test_rests_are_read_in_both_forms_and_bounded() -> None:
    at = datetime(2026, 11, 15, 12, tzinfo=UTC)
    rows = [
        ("30", 30.0),
        ("Sun, 15 Nov 2026 12:01:00 GMT", 60.0),
        ("Sun, 15 Nov 2026 12:01:00 -0000", 60.0),
        ("Sun, 15 Nov 2026 11:00:00 GMT", 0.0),
        ("99999999", 86_400.0),
        *((odd, 0.0) for odd in ("", "soon", "-1", "9" * 400, "٣", "1.5")),
        ("Sun, 99 Nov 2026 12:01:00 GMT", 0.0),
    ]
    for text, seconds in rows:
        assert parse_retry_after(retry_after=text, at=at) == seconds, text


def test_only_one_that_takes_nothing_counts_as_failing(
    project: Project,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What arrives together is judged together, however slow this machine is.
    monkeypatch.setattr(worker, "GATHER_S", 20.0)
    turns = cycle([answer(503), answer(200)])

    async def behave(arrived: Arrived, writer: StreamWriter) -> None:
        await next(turns)(arrived, writer)

    receiver.behaviours = {"/half": behave, "/busy": answer(503)}
    half, busy = (add(manager, receiver.url(path)) for path in ("/half", "/busy"))
    tell(project, 4)
    deliver()
    assert (half.row.failing_since, half.row.quiet_until) == (None, None)
    assert busy.row.failing_since is not None
    quiet = busy.row.quiet_until
    assert quiet is not None
    assert quiet - timezone.now() < timedelta(seconds=OVERLOAD_REST_S)


def test_ten_attempts_on_schedule_then_a_dead_letter_and_ten_more_by_hand(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/in"] = answer(500)
    hook = add(manager, receiver.url("/in"))
    tell(project)
    for number in range(2, 11):
        deliver()
        (delivery,) = hook.deliveries
        assert delivery.state == "retry_wait"
        wait = (delivery.due_at - timezone.now()).total_seconds()
        step = DELAYS_S[number - 1]
        assert step - 3 < wait <= step * 1.2, number
        hook.make_due()
    deliver()
    assert hook.states == ["dead"]
    assert deliver() == 0
    (delivery,) = hook.deliveries
    resent = manager.post(f"/webhooks/deliveries/{delivery.code}/resend").json()
    assert resent["state"] == "queued"
    assert len(resent["attempts"]) == 10
    deliver()
    assert hook.states == ["retry_wait"]
    wait = (hook.deliveries[0].due_at - timezone.now()).total_seconds()
    assert 2 < wait <= 6
    del receiver.behaviours["/in"]
    hook.make_due()
    deliver()
    assert hook.states == ["delivered"]
    assert {each.body for each in receiver.arrived} == {receiver.arrived[0].body}
    assert len({each.headers["webhook-id"] for each in receiver.arrived}) == 1
    assert len(receiver.arrived) == 12
    for each in receiver.arrived:
        each.verified(hook.secret)


def test_the_schedule_spreads_those_that_failed_together() -> None:
    at = timezone.now()
    times = {get_next_due(attempts=3, limit=10, at=at, rest=0) for _ in range(20)}
    assert len(times) > 10
    assert get_next_due(attempts=10, limit=10, at=at, rest=0) is None
    rest = get_next_due(attempts=1, limit=10, at=at, rest=500)
    assert rest == at + timedelta(seconds=500)


def test_nothing_of_an_answer_comes_back_with_the_next_delivery(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    """Cookies would be kept for ever, and make every later request larger."""
    receiver.behaviours["/x"] = answer(200, set_cookie="kept=for-ever; Path=/")
    hook = add(manager, receiver.url("/x"))
    tell(project, CONCURRENT_PER_ENDPOINT + 4)
    deliver(HttpPool())
    assert set(hook.states) == {"delivered"}
    arrived = receiver.at("/x")
    assert len(arrived) == CONCURRENT_PER_ENDPOINT + 4
    assert not any("cookie" in each.headers for each in arrived)


def test_a_secret_at_the_end_of_what_is_kept_is_not_kept_in_part(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    """Half of it would not be known for a secret, and still be half of it."""
    secret = "ghp_" + "aB3dE6gH9jK2" * 3
    long = "x" * (REPLY_KEPT - 21) + f" {secret} and more"
    receiver.behaviours["/500"] = answer(500, long.encode())
    hook = add(manager, receiver.url("/500"))
    tell(project)

    deliver(HttpPool())

    kept = last_attempt(hook).reply
    assert len(kept) <= REPLY_KEPT
    assert secret[4:10] not in kept
    assert kept.startswith("xxx")
