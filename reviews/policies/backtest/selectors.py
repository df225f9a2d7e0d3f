"""Read backtests and the decisions that they change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db.models import Count, QuerySet

from accounts.auth import PersonPrincipal
from common.errors import NotFound
from common.ids import parse_code
from ledger.chain import format_timestamp
from reviews.models import Backtest, BacktestItem, JobState
from reviews.policies.backtest.counts import Counts
from reviews.policies.backtest.people import AGREE, DISAGREE, SILENT

EXAMPLES = 10


def get_visible_backtest(*, person: PersonPrincipal, code: str) -> Backtest:
    """For the people of its project; it speaks of all agents' runs."""
    rows = Backtest.objects.select_related("project", "agent", "run", "created_by")
    rows = rows.filter(project__membership__user_id=person.user_id)
    known = parse_code(code)
    found = rows.filter(code=known).first() if known else None
    if found is None:
        raise NotFound
    return found


def list_items(
    backtest: Backtest,
    *,
    kind: str | None = None,
    gate: str | None = None,
    rule: str | None = None,
    move: str | None = None,
    asks: str | None = None,
    people: str | None = None,
    ruling: str | None = None,
) -> QuerySet[BacktestItem]:
    """The decisions that change, as far as they are asked for."""
    wanted = {
        "kind": kind,
        "gate": gate,
        "rule": rule,
        "move": move,
        "asks": asks,
        "people": people,
        "ruling": ruling,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    rows = backtest.items.select_related("run", "run__agent")
    return rows.filter(unknown="", **given)


def list_unknown(
    backtest: Backtest, *, reason: str | None = None
) -> QuerySet[BacktestItem]:
    """The decisions that stored facts cannot judge, for this reason or for any."""
    rows = backtest.items.select_related("run", "run__agent").exclude(unknown="")
    return rows if reason is None else rows.filter(unknown=reason)


def list_moves_by_rule(items: QuerySet[Any]) -> dict[tuple[str, str], list[str]]:
    """By gate and rule what they change, the most frequent first; also of a shadow."""
    counted = items.exclude(move="").order_by().values("gate", "rule", "move")
    moves: dict[tuple[str, str], list[str]] = {}
    for row in counted.annotate(count=Count("pk")).order_by("-count", "move"):
        moves.setdefault((row["gate"], row["rule"]), []).append(row["move"])
    return moves


def list_examples(backtest: Backtest) -> list[BacktestItem]:
    """A few of them, those first that people disagree with."""
    found: list[BacktestItem] = []
    for people in (DISAGREE, AGREE, SILENT):
        items = list_items(backtest, people=people).order_by("pk")
        found += items[: EXAMPLES - len(found)]
    return found


def read_result(backtest: Backtest) -> Mapping[str, Any]:
    """What was counted so far; nothing yet where it has not begun."""
    return {**Counts().to_json(), **json.loads(backtest.result)}


def find_result(project_id: int, policy: str, text: str) -> dict[str, Any] | None:
    """What the newest finished backtest of this very document found, with its id."""
    rows = Backtest.objects.filter(
        project_id=project_id, policy=policy, document=text, state=JobState.FINISHED
    )
    found = rows.order_by("-pk").first()
    if found is None:
        return None
    return {
        "id": str(found.code),
        "since": format_timestamp(found.since),
        "until": format_timestamp(found.until),
        **read_result(found),
    }


def serialize_item(item: BacktestItem) -> dict[str, Any]:
    before, after = json.loads(item.judgements)
    return {
        "id": str(item.code),
        "run": str(item.run.code),
        "agent": item.run.agent.name,
        "run_status": item.run.status,
        "seq": item.seq,
        "at": format_timestamp(item.at),
        "kind": item.kind,
        "step": item.step,
        "subject": item.subject,
        "gate": item.gate,
        "rule": item.rule or None,
        "move": item.move,
        "before": before,
        "after": after,
        "asks": item.asks or None,
        "people": item.people,
        "review": str(item.review) if item.review else None,
        "ruling": item.ruling or None,
    }


def serialize_backtest(backtest: Backtest) -> dict[str, Any]:
    ended, started = backtest.ended_at, backtest.started_at
    return {
        "id": str(backtest.code),
        "project": backtest.project.slug,
        "policy": backtest.policy,
        "version": backtest.version,
        "since": format_timestamp(backtest.since),
        "until": format_timestamp(backtest.until),
        "agent": backtest.agent.name if backtest.agent else None,
        "run": str(backtest.run.code) if backtest.run else None,
        "runs": "all" if backtest.all_runs else "policy",
        "limit": backtest.limit,
        "state": backtest.state,
        "reason": backtest.reason or None,
        "progress": {"done": backtest.done, "total": backtest.total},
        "by": backtest.created_by.username,
        "at": format_timestamp(backtest.created_at),
        "started_at": format_timestamp(started) if started else None,
        "ended_at": format_timestamp(ended) if ended else None,
        **read_result(backtest),
        "examples": [serialize_item(item) for item in list_examples(backtest)],
    }
