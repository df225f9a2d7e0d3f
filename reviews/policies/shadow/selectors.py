"""Read what a draft beside its policy was seen to decide."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet

from accounts.auth import PersonPrincipal
from accounts.models import Project
from common.errors import NotFound
from common.ids import parse_code
from guidance.core.vocabulary import CALL_DECISIONS, STEP_DECISIONS
from guidance.models import PolicyVersion
from ledger.backtest.tally import name_move
from ledger.chain import format_timestamp
from ledger.models import Entry
from reviews.models import PolicyShadow, PolicyShadowItem
from reviews.policies.selectors import list_versions

KEPT = 20
EXAMPLES = 10
# The strictest first.
_DECISIONS = {"step": STEP_DECISIONS, "call": CALL_DECISIONS}
Payload = Mapping[str, Any]


def list_shadows(project: Project, name: str) -> list[PolicyShadow]:
    """The newest of a policy, the newest first; NotFound if there is no such policy."""
    list_versions(project, name)
    rows = _select_related(PolicyShadow.objects).filter(
        project=project, policy__name=name
    )
    return list(rows.order_by("-pk")[:KEPT])


class CountedShadow(NamedTuple):
    """`changed` is how many decisions it makes otherwise."""

    shadow: PolicyShadow
    changed: int


def find_latest(version: PolicyVersion, at: datetime) -> CountedShadow | None:
    """The one that runs beside this version's policy, else the last one of the version."""
    running = Q(ended_at=None, ends_at__gt=at)
    found = (
        _select_related(PolicyShadow.objects)
        .filter(project_id=version.project_id, policy__name=version.name)
        .filter(running | Q(version=version))
        .annotate(changed=Count("items", filter=~Q(items__move="")))
        .order_by("-pk")
        .first()
    )
    return None if found is None else CountedShadow(found, found.changed)


def get_visible_shadow(*, person: PersonPrincipal, code: str) -> PolicyShadow:
    """For people of its project."""
    rows = PolicyShadow.objects.filter(project__membership__user_id=person.user_id)
    return _get(rows, code)


def get_shadow(project: Project, code: str) -> PolicyShadow:
    return _get(PolicyShadow.objects.filter(project=project), code)


def _get(rows: QuerySet[PolicyShadow], code: str) -> PolicyShadow:
    known = parse_code(code)
    found = _select_related(rows).filter(code=known).first() if known else None
    if found is None:
        raise NotFound
    return found


def _select_related(rows: Any) -> QuerySet[PolicyShadow]:
    found: QuerySet[PolicyShadow] = rows.select_related(
        "project", "policy", "version", "by"
    )
    return found


def is_running(shadow: PolicyShadow, at: datetime) -> bool:
    return shadow.ended_at is None and shadow.ends_at > at


def list_items(
    shadow: PolicyShadow,
    *,
    outcome: str | None = None,
    after: str | None = None,
    **wanted: str | None,
) -> QuerySet[PolicyShadowItem]:
    """What the draft decides otherwise or could not judge, as far as it is asked for;
    `after` is the draft's decision."""
    given = {name: value for name, value in wanted.items() if value is not None}
    rows = shadow.items.select_related("run", "run__agent").filter(**given)
    if outcome == "unknown":
        rows = rows.filter(move="")
    elif outcome == "changed":
        rows = rows.exclude(move="")
    if after is not None:
        rows = rows.filter(move__endswith=name_move("", after))
    return rows


def read_payloads(items: Iterable[PolicyShadowItem]) -> dict[int, Payload]:
    """What the entries of these items say, by the item's number; by one query."""
    places = {(item.run_id, item.seq): item.pk for item in items}
    if not places:
        return {}
    wanted = reduce(or_, (Q(run_id=run, seq=seq) for run, seq in places))
    entries = Entry.objects.filter(wanted).values_list("run_id", "seq", "payload")
    return {
        places[run, seq]: json.loads(payload)
        for run, seq, payload in entries
        if payload
    }


def count_items(shadow: PolicyShadow) -> dict[str, Any]:
    """What was counted, in the words of a backtest."""
    columns = ("kind", "gate", "rule", "move", "asks", "reason")
    groups = shadow.items.values(*columns).annotate(count=Count("pk")).order_by()
    moves: dict[str, Counter[str]] = {}
    by_gate: Counter[str] = Counter()
    by_rule: dict[tuple[str, str], list[int]] = {}
    asks: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for row in groups:
        count = row["count"]
        if not row["move"]:
            unknown[row["reason"]] += count
            continue
        moves.setdefault(row["kind"], Counter())[row["move"]] += count
        by_gate[row["gate"]] += count
        asks[row["asks"]] += count
        directions = by_rule.setdefault((row["gate"], row["rule"]), [0, 0])
        directions[_is_stricter(row["kind"], row["move"])] += count
    changed = by_gate.total()
    runs = shadow.items.exclude(move="").aggregate(n=Count("run", distinct=True))["n"]
    same = {"step": shadow.same_steps, "call": shadow.same_calls}
    every = sum(moves.values(), Counter())
    ranked = sorted(by_rule.items(), key=lambda each: (-sum(each[1]), each[0]))
    return {
        "judged": changed + sum(same.values()),
        "same": same,
        "changed": changed,
        "runs_changed": runs,
        "unknown": unknown.total(),
        "unknown_reasons": dict(unknown.most_common()),
        "by_gate": dict(by_gate.most_common()),
        "by_rule": [
            {
                "gate": gate,
                "rule": rule or None,
                "softer": softer,
                "stricter": stricter,
            }
            for (gate, rule), (softer, stricter) in ranked
        ],
        "moves": dict(every.most_common()),
        "decisions": {
            kind: dict(counts.most_common()) for kind, counts in sorted(moves.items())
        },
        "would_have_asked": asks["more"],
        "would_not_have_asked": asks["less"],
    }


def _is_stricter(kind: str, move: str) -> bool:
    before, after = move.split("→")
    order = _DECISIONS[kind]
    return order.index(after) < order.index(before)


def serialize_items(items: Iterable[PolicyShadowItem]) -> list[dict[str, Any]]:
    rows = list(items)
    payloads = read_payloads(rows)
    return [_serialize_item(row, payloads.get(row.pk, {})) for row in rows]


def _serialize_item(item: PolicyShadowItem, payload: Payload) -> dict[str, Any]:
    return {
        "id": str(item.code),
        "run": str(item.run.code),
        "agent": item.run.agent.name,
        "run_status": item.run.status,
        "seq": payload.get("entry"),
        "at": format_timestamp(item.at),
        "kind": item.kind,
        "step": payload.get("step"),
        "subject": payload.get("subject"),
        "gate": item.gate or None,
        "rule": item.rule or None,
        "move": item.move or None,
        "asks": item.asks or None,
        "before": payload.get("before"),
        "after": payload.get("after"),
        "reason": item.reason or None,
    }


def serialize_shadow(shadow: PolicyShadow, at: datetime) -> dict[str, Any]:
    running = is_running(shadow, at)
    ended = None if running else shadow.ended_at or shadow.ends_at
    return {
        "id": str(shadow.code),
        "project": shadow.project.slug,
        "policy": shadow.policy.name,
        "version": shadow.version.version,
        "note": shadow.note,
        "by": shadow.by.username,
        "state": "running" if running else "ended",
        "started_at": format_timestamp(shadow.started_at),
        "ends_at": format_timestamp(shadow.ends_at),
        "ended_at": format_timestamp(ended) if ended else None,
        "end": None if running else shadow.end or "time",
    }


def serialize_result(shadow: PolicyShadow, at: datetime) -> dict[str, Any]:
    """The same with what was counted, and the newest items."""
    return {
        **serialize_shadow(shadow, at),
        **count_items(shadow),
        "examples": serialize_items(list_items(shadow).order_by("-pk")[:EXAMPLES]),
    }
