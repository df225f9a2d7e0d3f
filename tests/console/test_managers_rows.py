"""What managers read of the loop, of webhooks and of the gateway, case by case."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from console.gateway_report.rows import _describe_share
from console.loop.filters import Filters
from console.loop.head import _build_meter, _get_due_time
from console.webhooks.rows import (
    WebhookRow,
    _build_health,
    build_delivery_rows,
    is_busy,
)
from reviews.queue.rule_counts import RuleCount
from webhooks.models import Delivery, WebhookEndpoint

pytestmark = pytest.mark.once("uses no database")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CODE = UUID("0190b5a2-0000-7000-8000-00000000abcd")


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


# The loop


def test_a_meter_is_hot_before_it_is_full() -> None:
    def meter(used: int, limit: int | None) -> Any:
        return _build_meter("M", used, limit, str, period=" this hour")

    assert meter(3, None).limit == "no limit this hour"
    assert meter(3, 10).limit == "of 10 this hour"
    tones = [meter(used, 10).tone for used in range(12)]
    assert tones[0] == ""
    assert tones[9] == "hot"
    assert tones[10:] == ["hot stop", "hot stop"]
    assert meter(10**6, None).tone == ""
    assert meter(0, 0).tone == "hot stop"


def test_the_next_beat_is_never_sooner_than_the_gap() -> None:
    section: Any = SimpleNamespace(heartbeat_s=60, min_gap_s=100)

    def due(heartbeat: datetime | None, looked: datetime | None) -> datetime | None:
        loop: Any = SimpleNamespace(heartbeat_at=heartbeat, looked_at=looked)
        return _get_due_time(loop, section)

    assert due(None, NOW) is None
    assert due(NOW, None) == NOW + timedelta(seconds=100)
    assert due(NOW, ago(seconds=90)) == NOW + timedelta(seconds=60)


def test_a_day_is_a_filter_only_where_it_is_one() -> None:
    day = Filters.from_query({"day": "2026-03-01", "action": "nonsense"})
    assert day.lookups == {
        "decided_at__gte": datetime(2026, 3, 1, tzinfo=UTC),
        "decided_at__lt": datetime(2026, 3, 2, tzinfo=UTC),
    }
    assert day.any
    assert day.build_query(before="x") == "day=2026-03-01&before=x"
    assert day.build_query(day="") == ""
    for text in ("", "x", "1999-12-31", "3000-01-01", "9999-12-31"):
        assert not Filters.from_query({"day": text}).any, text
    assert Filters.from_query({"day": "2000-01-01"}).any
    assert Filters.from_query({"day": "2999-12-31"}).any


# Webhooks


def build_endpoint(**more: Any) -> WebhookEndpoint:
    facts = {"status": "active", "sequence": 3, "failing_since": None, **more}
    return WebhookEndpoint(**facts)


def test_a_webhook_is_healthy_failing_or_disabled() -> None:
    def word(**more: Any) -> str:
        return _build_health(build_endpoint(**more), at=NOW).word

    assert word() == "Healthy"
    assert word(sequence=0) == "Nothing sent yet"
    assert word(failing_since=ago(hours=1)) == "Failing"
    assert word(failing_since=ago(hours=1), sequence=0) == "Failing"
    off = {"status": "disabled", "status_at": ago(hours=2)}
    assert word(**off, failing_since=ago(hours=1)) == "Disabled"


def test_its_counts_are_words() -> None:
    def row(sent: int = 0, waiting: int = 0, dead: int = 0) -> Any:
        named: Any = dict.fromkeys(WebhookRow.__dataclass_fields__, "")
        return WebhookRow(**{**named, "sent": sent, "waiting": waiting, "dead": dead})

    assert [row(sent=n).events for n in (0, 1, 2)] == [
        "0 events",
        "1 event",
        "2 events",
    ]
    assert [row(waiting=n).pending for n in (0, 1234)] == ["", "1,234 pending"]
    assert [row(dead=n).resend for n in (0, 1, 2)] == [
        "",
        "Resend the dead letter",
        "Resend all 2 dead letters",
    ]


def build_delivery(state: str, due: datetime = NOW) -> Delivery:
    return Delivery(
        code=CODE,
        event=CODE,
        state=state,
        due_at=due,
        created_at=NOW,
        number=1,
        body="{}",
    )


def test_a_page_that_waits_for_something_soon_looks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    soon = NOW + timedelta(seconds=19)
    for state, due, busy in (
        ("queued", soon, True),
        ("leased", soon, True),
        ("retry_wait", soon, True),
        ("retry_wait", NOW + timedelta(seconds=20), False),
        ("delivered", soon, False),
        ("dead", soon, False),
    ):
        delivery = build_delivery(state, due)
        assert is_busy([delivery], at=NOW) == busy, (state, due)
    assert is_busy([build_delivery("dead"), build_delivery("queued", soon)], at=NOW)
    monkeypatch.setattr(
        Delivery,
        "tries",
        SimpleNamespace(all=list),  # nothing was tried yet
    )
    for active in (True, False):
        for state in (
            "queued",
            "leased",
            "retry_wait",
            "delivered",
            "dead",
            "cancelled",
        ):
            (row,) = build_delivery_rows([build_delivery(state)], active=active, at=NOW)
            ended = state in {"delivered", "dead", "cancelled"}
            assert row.can_resend == (active and ended), state


# The report of the gateway


def test_a_share_is_told_once_somebody_has_answered() -> None:
    count = RuleCount(rule="r", gate="g", asked=9, waiting=4, expired=2)
    assert _describe_share(count) == ""
    count = RuleCount(
        rule="r", gate="g", asked=9, approved=1, amended=2, denied=3, aborted=1
    )
    assert _describe_share(count) == "approved 1 of 7"
