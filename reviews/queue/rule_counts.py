"""How often each rule made a person be asked, and how people answered."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F, Func, QuerySet, TextField

from guidance.core.policy.rule_drafts import is_usually_approved
from reviews.models import Kind, Review, ReviewState

# The newest ones: a page has to come at once, however long the project lives.
REVIEWS_LIMIT = 5_000
_AT_A_TIME = 500
# So many calls of each rule are named.
NEWEST = 5
# What becomes of a review: by a person's ruling, or by its state without one.
_ANSWERS = {
    "approve": "approved",
    "amend": "amended",
    "deny": "denied",
    "abort": "aborted",
    ReviewState.OPEN.value: "waiting",
    ReviewState.EXPIRED.value: "expired",
}


class AskedCall(NamedTuple):
    """One of the calls that were asked about, and what became of it."""

    review: str
    title: str
    answer: str


@dataclass(slots=True, kw_only=True)
class RuleCount:
    """A review counts for every rule that asked. `ended` ones nobody had to answer; a few
    of the `newest` are named."""

    rule: str
    gate: str
    asked: int = 0
    approved: int = 0
    amended: int = 0
    denied: int = 0
    aborted: int = 0
    expired: int = 0
    waiting: int = 0
    ended: int = 0
    newest: list[AskedCall] = field(default_factory=list)

    @property
    def answered(self) -> int:
        return self.approved + self.amended + self.denied + self.aborted

    @property
    def is_usually_approved(self) -> bool:
        return is_usually_approved(approved=self.approved, answered=self.answered)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name != "newest"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCounts:
    """`counted_all` is false where there were more reviews than are counted."""

    rules: tuple[RuleCount, ...]
    reviews: int
    counted_all: bool


def build_findings_expression() -> Func:
    """The findings of a review's content alone: the call itself may be long."""
    templates = {
        "sqlite": "json_extract(%(expressions)s, '$.findings')",
        "postgresql": "(%(expressions)s::json -> 'findings')::text",
    }
    return Func(
        F("content"),
        template=templates[connection.vendor],
        output_field=TextField(),
    )


def list_confirmations(*, project_id: int, since: datetime) -> QuerySet[Review]:
    """Calls put before a person since then, however long the project lives.

    Ids grow with the time, so the newest review from before bounds them: it is found, and
    they are read, by the index that has the reviews of a project in this order.
    """
    of_project = Review.objects.filter(project_id=project_id)
    before = of_project.filter(opened_at__lt=since).order_by("-pk")
    last = before.values_list("pk", flat=True).first() or 0
    return of_project.filter(pk__gt=last, kind=Kind.CONFIRMATION)


def count_rules(
    *, project_id: int, days: int, at: datetime, policy: str | None = None
) -> RuleCounts:
    """Of all runs, or of those of one policy. Two queries, however many there are."""
    since = at - timedelta(days=days)
    asked = list_confirmations(project_id=project_id, since=since)
    if policy is not None:
        asked = asked.filter(run__policy__name=policy)
    reviews = asked.order_by("-pk").values_list(
        "state", "ruling__action", "code", "title", build_findings_expression()
    )
    counts: dict[str, RuleCount] = {}
    seen, counted_all = 0, True
    for state, action, code, title, text in reviews[: REVIEWS_LIMIT + 1].iterator(
        chunk_size=_AT_A_TIME
    ):
        if seen == REVIEWS_LIMIT:
            counted_all = False
            break
        seen += 1
        answer = _ANSWERS.get(action or state, "ended")
        for rule, gate in dict(list_rules_that_ask(json.loads(text))).items():
            count = counts.setdefault(rule, RuleCount(rule=rule, gate=gate))
            count.asked += 1
            setattr(count, answer, getattr(count, answer) + 1)
            if len(count.newest) < NEWEST:
                count.newest.append(AskedCall(str(code), title, answer))
    return RuleCounts(
        rules=tuple(sorted(counts.values(), key=lambda each: (-each.asked, each.rule))),
        reviews=seen,
        counted_all=counted_all,
    )


def list_rules_that_ask(
    findings: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[str, str]]:
    """Every rule that wanted a person, or its gate where it is no rule."""
    for finding in findings:
        if finding["decision"] == "require-confirmation":
            yield (
                str(finding["details"].get("rule") or finding["gate"]),
                finding["gate"],
            )
