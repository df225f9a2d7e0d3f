"""Rules that ask most often, and whether a draft without the question is offered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from console.overview.figures import Count
from console.overview.links import Links
from console.overview.period import read_period
from console.overview.rules import ANSWERED_LEAST, SHOWN, RuleCard, build_rule_card
from reviews.models import Kind
from reviews.statistics.counts import OPENED, RULE_ASKED

NOON = datetime(2026, 11, 17, 12, tzinfo=UTC)
RULE = "delete-folder"
COLUMNS = (
    *("rule_approved", "rule_amended", "rule_denied", "rule_aborted", "rule_expired"),
)


def build(
    answers: dict[str, int] | None = None,
    *,
    asked: tuple[Count, ...] = (Count(RULE, 99, 0),),
    period: str = "30d",
    document: dict[str, Any] | None = None,
) -> RuleCard:
    counts = {
        OPENED: [Count(Kind.CONFIRMATION, 7, 0), Count(Kind.PAUSE, 100, 0)],
        RULE_ASKED: asked,
        **{name: [Count("other", 99, 0)] for name in COLUMNS},
    }
    for name, count in (answers or {}).items():
        counts[name] = [Count("other", 99, 0), Count(RULE, count, 0)]
    return build_rule_card(
        counts,
        period=read_period(period, NOON),
        document={"tools": {}} if document is None else document,
        links=Links(slug="shop"),
    )


@pytest.mark.parametrize(
    ("answers", "document", "offered"),
    [
        ({"rule_approved": ANSWERED_LEAST}, None, True),
        ({"rule_approved": ANSWERED_LEAST - 1}, None, False),
        # Nobody answered the last one: it tells nothing either way.
        ({"rule_approved": ANSWERED_LEAST - 1, "rule_expired": 9}, None, False),
        ({"rule_approved": ANSWERED_LEAST, "rule_expired": 99}, None, True),
        ({"rule_approved": ANSWERED_LEAST, "rule_denied": 5}, None, False),
        ({"rule_approved": ANSWERED_LEAST, "rule_amended": 5}, None, False),
        ({"rule_denied": ANSWERED_LEAST}, None, False),
        ({"rule_approved": ANSWERED_LEAST}, {}, False),
        (
            {"rule_approved": ANSWERED_LEAST},
            {"tools": {"rules": {RULE: "warn"}}},
            False,
        ),
    ],
)
def test_a_draft_is_offered_where_nearly_everybody_approves(
    answers: dict[str, int], document: dict[str, Any] | None, offered: bool
) -> None:
    (row,) = build(answers, document=document).rows
    assert row.draft == (RULE if offered else "")


def test_a_row_has_the_answers_that_were_given_to_its_own_rule() -> None:
    card = build({"rule_approved": 3, "rule_aborted": 1, "rule_expired": 2})
    (row,) = card.rows
    assert row.answers == (("approved", "3"), ("aborted", "1"), ("unanswered", "2"))
    assert card.asked == "7"


def test_rules_that_asked_nothing_now_are_left_out_and_few_are_shown() -> None:
    quiet = Count("quiet", 0, 9)
    many = tuple(Count(f"rule-{place}", 9, 0) for place in range(SHOWN + 2))
    rows = build(asked=(quiet, *many)).rows
    assert [row.rule for row in rows] == [each.key for each in many[:SHOWN]]


@pytest.mark.parametrize(("period", "days"), [("24h", 7), ("7d", 7), ("90d", 90)])
def test_a_draft_is_tried_over_a_week_at_least(period: str, days: int) -> None:
    assert build(period=period).days == days
