"""Reads: reviews and runs as far as a person may see them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from time import monotonic
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Count, Model, QuerySet, Subquery, Sum

from accounts.joins import join_agent, join_member, join_project, join_user
from accounts.models import Agent, Project, Role, User
from accounts.selectors import check_role
from common.errors import NotFound
from common.ids import parse_code
from guidance.core.look_first import Look
from ledger.chain import format_timestamp
from ledger.models import Entry, Run
from ledger.selectors import filter_visible_runs, join_run
from ledger.writer import sql
from ledger.writer.changes import SeenRun
from ledger.writer.seen_runs import JOIN_HEAD, SEEN_COLUMNS, build_seen, can_be_seen
from reviews.models import ModelRequest, Review, SealedLook, ToolCall
from reviews.serializers import build_review_answer, build_ruling_from_row

M = TypeVar("M", bound=Model)
REVIEW_RELATED = (
    *("project", "run__agent", "assignee", "ruling__by", "call__grant"),
    "agent_wait",
)


def get_visible_review(*, user_id: int, code: str) -> Review:
    """The review, for a member of its project; for anybody else it does not exist."""
    reviews = Review.objects.select_related(*REVIEW_RELATED)
    return _get_row(
        reviews.filter(code=_require_code(code), project__membership__user_id=user_id)
    )


_REVIEW = tuple(field.attname for field in Review._meta.concrete_fields)
_RUN = ("id", "code", "agent_id", "policy_id")
_FOR_COMMAND = f"""
SELECT {", ".join(f"review.{name}" for name in _REVIEW)},
       {", ".join(f"run.{name}" for name in _RUN)}, member.role
  FROM reviews_review review
  {join_run("review.run_id")}
  {join_member("review.project_id")}
 WHERE review.code = %s
"""  # noqa: S608 (column names are constants)


def get_review_for_change(*, user_id: int, code: str) -> Review:
    """The same with no more than a change request needs: an agent waits for what comes of it.
    Auditors are refused."""
    rows = sql.execute(_FOR_COMMAND, [user_id, _require_code(code)])
    if not rows:
        raise NotFound
    *found, role = rows[0]
    check_role(Role(role), Role.REVIEWER)
    review = sql.build_instance(Review, _REVIEW, found[: len(_REVIEW)])
    review.run = sql.build_instance(Run, _RUN, found[len(_REVIEW) :])
    return review


_FOR_RULING = f"""
SELECT {", ".join(f"review.{name}" for name in _REVIEW)}, {SEEN_COLUMNS}, member.role
  FROM reviews_review review
  {join_run("review.run_id")} {JOIN_HEAD}
  {join_member("review.project_id")}
 WHERE review.code = %s
"""  # noqa: S608 (column names are constants)


def get_review_for_ruling(*, user_id: int, code: str) -> tuple[Review, SeenRun | None]:
    """The same, and its run by which the ruling may be decided."""
    if not can_be_seen():
        return get_review_for_change(user_id=user_id, code=code), None
    known, asked_at = _require_code(code), monotonic()
    rows = sql.execute(_FOR_RULING, [user_id, known])
    read_at = (asked_at + monotonic()) / 2
    if not rows:
        raise NotFound
    *found, role = rows[0]
    check_role(Role(role), Role.REVIEWER)
    review = sql.build_instance(Review, _REVIEW, found[: len(_REVIEW)])
    review.run, seen = build_seen(found[len(_REVIEW) :], read_at=read_at)
    return review, seen


_RULING = ("code", "action", "note", "answer", "amended")
_RULED = f"""
SELECT {", ".join(f"review.{name}" for name in _REVIEW)},
       run.id, run.code, agent.id, agent.name, project.id, project.slug,
       assignee.id, assignee.username,
       {", ".join(f"ruling.{name}" for name in _RULING)},
       person.username, ruling.at, permit.code
  FROM reviews_review review
  {join_member("review.project_id")}
  {join_run("review.run_id")}
  {join_agent("agent", "run.agent_id")}
  {join_project("project", "review.project_id")}
  JOIN reviews_ruling ruling ON ruling.review_id = review.id
  {join_user("person", "ruling.by_id")}
  {join_user("assignee", "review.assignee_id")}
  LEFT JOIN reviews_toolcall asked ON asked.review_id = review.code
  LEFT JOIN reviews_grant permit ON permit.call_id = asked.code
 WHERE review.code = %s
"""  # noqa: S608 (column names are constants)


def build_ruled_answer(*, user_id: int, code: str) -> dict[str, Any]:
    """A review that was just ruled on, as `review_answer` would tell it."""
    rows = sql.execute(_RULED, [user_id, _require_code(code)])
    if not rows:
        raise NotFound
    row = iter(rows[0])
    review = sql.build_instance(Review, _REVIEW, [*islice(row, len(_REVIEW))])
    review.run = sql.build_instance(Run, ("id", "code"), [*islice(row, 2)])
    review.run.agent = sql.build_instance(Agent, ("id", "name"), [*islice(row, 2)])
    review.project = sql.build_instance(Project, ("id", "slug"), [*islice(row, 2)])
    assignee_id, username = islice(row, 2)
    if assignee_id is not None:
        names = ("id", "username")
        review.assignee = sql.build_instance(User, names, [assignee_id, username])
    return build_review_answer(review, ruling=build_ruling_from_row(*row))


def get_visible_run(*, user_id: int, code: str) -> Run:
    runs = Run.objects.select_related("project", "agent", "policy")
    runs = filter_visible_runs(runs, user_id=user_id)
    return _get_row(runs.filter(code=_require_code(code)))


def _require_code(code: str) -> UUID:
    known = parse_code(code)
    if known is None:
        raise NotFound
    return known


def _get_row(rows: QuerySet[M]) -> M:
    """The one row. first() would sort it, which PostgreSQL plans for milliseconds."""
    for row in rows:
        return row
    raise NotFound


def list_review_history(review: Review) -> list[dict[str, Any]]:
    """What happened to the review, from the ledger, oldest first."""
    entries = list_review_entries(review)
    payloads = [json.loads(entry.payload) for entry in entries]
    actors = {entry.actor for entry in entries}
    for name in ("taken_from", "to"):
        actors |= {payload.get(name) or "" for payload in payloads}
    actors |= {each for payload in payloads for each in payload.get("mentions", ())}
    names = _get_usernames(actors)
    return [
        {
            "seq": entry.seq,
            "at": format_timestamp(entry.at),
            "type": entry.type,
            "actor": entry.actor,
            "by": names.get(entry.actor),
            "taken_from": names.get(payload.get("taken_from", "")),
            "to": names.get(payload.get("to") or ""),
            "comment": payload.get("comment"),
            "reply_to": payload.get("reply_to"),
            "mentions": [
                names[each] for each in payload.get("mentions", ()) if each in names
            ],
            "text": payload.get("text") or payload.get("note"),
        }
        for entry, payload in zip(entries, payloads, strict=True)
    ]


def list_review_entries(review: Review) -> list[Entry]:
    """The entries of the run's chain that are about this review, oldest first."""
    code = str(review.code)
    entries = Entry.objects.filter(
        run_id=review.run_id,
        type__startswith="review.",
        at__gte=review.opened_at,
        payload__contains=code,
    ).order_by("seq")
    return [entry for entry in entries if json.loads(entry.payload)["review"] == code]


def _get_usernames(actors: Iterable[str]) -> dict[str, str]:
    """Of the people among these actors."""
    prefix = "user:"
    codes = [UUID(name[len(prefix) :]) for name in actors if name.startswith(prefix)]
    people = User.objects.filter(code__in=codes).values_list("code", "username")
    return {f"{prefix}{code}": username for code, username in people}


def list_amended_findings(review: Review) -> list[dict[str, Any]]:
    """What the gates said of the call as its ruling changed it, from the ledger."""
    entries = Entry.objects.filter(
        run_id=review.run_id, type="review.ruled", at=review.ruling.at
    )
    for entry in entries:
        payload = json.loads(entry.payload)
        if payload["review"] == str(review.code):
            findings: list[dict[str, Any]] = payload["amended_findings"]
            return findings
    return []


def get_blind_look(review: Review) -> Look | None:
    """What a model had said of the call of a review, where its reviewer was not told."""
    call = ToolCall.objects.filter(review=review).values("code")[:1]
    sealed = SealedLook.objects.filter(call_code=Subquery(call)).first()
    return sealed.read_look() if sealed else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCost:
    """What the server's own questions to models cost; `unpriced` of them had no price."""

    requests: int
    cost_micros: int
    unpriced: int


def get_model_cost_of_run(run_id: int) -> ModelCost:
    """What is part of the run's cost: an answer that came after its end is not."""
    rows = ModelRequest.objects.filter(run_id=run_id, seq__isnull=False)
    return _sum_model_cost(rows)


def get_model_cost_of_project(
    project_id: int, *, since: datetime, until: datetime | None = None
) -> ModelCost:
    rows = ModelRequest.objects.filter(project_id=project_id, at__gte=since)
    return _sum_model_cost(rows if until is None else rows.filter(at__lt=until))


def _sum_model_cost(rows: QuerySet[ModelRequest]) -> ModelCost:
    sums = rows.aggregate(
        requests=Count("pk"), priced=Count("cost_micros"), cost=Sum("cost_micros")
    )
    return ModelCost(
        requests=sums["requests"],
        cost_micros=sums["cost"] or 0,
        unpriced=sums["requests"] - sums["priced"],
    )
