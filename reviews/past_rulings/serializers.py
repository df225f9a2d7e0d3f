"""How a past ruling looks on the wire and in a file."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common.responses import write_csv_head, write_csv_lines
from ledger.chain import format_timestamp
from ledger.serializers import build_review_url
from reviews.models import RulingFact
from reviews.past_rulings.filters import RulingSearch, list_ruling_page
from reviews.past_rulings.outcomes import build_outcome

COLUMNS = (
    *("at", "by", "action", "kind", "severity", "rule", "title", "agent", "note"),
    *(
        "answer",
        "opened_at",
        "waited_ms",
        "read_ms",
        "outcome",
        "call",
        "run_status",
        "accepted",
    ),
    *("regretted", "run", "review", "id"),
)
_AT_A_TIME = 500


def serialize_past_ruling(fact: RulingFact, at: datetime) -> dict[str, Any]:
    """Needs a row of `list_ruling_page`."""
    ruling, review = fact.ruling, fact.ruling.review
    outcome = build_outcome(fact, at)
    return {
        "id": str(ruling.code),
        "review": str(review.code),
        "run": str(fact.run.code),
        "agent": fact.agent.name,
        "kind": fact.kind,
        "severity": fact.severity,
        "rule": fact.rule,
        "rules": fact.rules.split("\n")[1:-1],
        "title": review.title,
        "action": fact.action,
        "note": ruling.note,
        "answer": ruling.answer,
        "by": fact.by.username,
        "opened_at": format_timestamp(review.opened_at),
        "at": format_timestamp(fact.at),
        "waited_ms": fact.took_ms,
        "read_ms": fact.read_ms,
        "outcome": {
            "text": outcome.text,
            "call": outcome.call or None,
            "run_status": outcome.run_status,
            "accepted": outcome.accepted,
            "regretted": outcome.regretted,
        },
        "url": build_review_url(
            project_slug=review.project.slug, review=str(review.code)
        ),
    }


def read_csv(
    cursor: str | None, *, search: RulingSearch, sort: str, at: datetime
) -> tuple[str, str | None]:
    """Some hundred lines, behind a head on the first page, and where the next begin."""
    page = list_ruling_page(search, sort=sort, cursor=cursor, limit=_AT_A_TIME)
    head = "" if cursor else write_csv_head(COLUMNS)
    lines = write_csv_lines(_build_cells(row, at) for row in page.rows)
    return head + lines, page.next_cursor


def _build_cells(fact: RulingFact, at: datetime) -> list[object]:
    item = serialize_past_ruling(fact, at)
    item |= {**item["outcome"], "outcome": item["outcome"]["text"]}
    return [item[name] for name in COLUMNS]
