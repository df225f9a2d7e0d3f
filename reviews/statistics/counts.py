"""What entries about reviews add to the figures: how many, of which kind, by which rule."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ledger.statistics.registry import Added, CountedEntry, register_counting
from reviews.models import SERVER_KINDS, Kind, Review
from reviews.queue.rule_counts import build_findings_expression, list_rules_that_ask

# Kinds of PeriodCount. The key of a ruling is the review's kind and what was chosen, such
# as confirmation:approve; that of the others the kind alone.
OPENED, RULED, EXPIRED = "review_opened", "review_ruled", "review_expired"
# By the rule, or the gate, that made a person be asked about a call.
RULE_ASKED, RULE_EXPIRED = "rule_asked", "rule_expired"
_RULE_ANSWERS = {
    "approve": "rule_approved",
    "amend": "rule_amended",
    "deny": "rule_denied",
    "abort": "rule_aborted",
}
# What needed no look of a person, by what answered it: of calls these three, of reviews one
# that is alike and was ruled on by the same action.
NOT_ASKED = "not_asked"
BY_PERMISSION, BY_PLAN, BY_MODEL = "permission", "plan", "model"
FOLDED = "folded"
RULE_COUNTS = (RULE_ASKED, *_RULE_ANSWERS.values(), RULE_EXPIRED)
_TYPES = ("review.opened", "review.ruled", "review.expired")


class _Asked(NamedTuple):
    """What never changes about a review: its kind, and the rules that asked."""

    kind: str
    rules: tuple[str, ...]


def register_counts() -> None:
    # People rule on what the server's own runs ask, too.
    register_counting(_TYPES, count_reviews, of_system_runs=True)


def count_reviews(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    asked = _read_reviews([entry.payload["review"] for entry in entries])
    for entry in entries:
        payload = entry.payload
        kind, rules = asked[payload["review"]]
        totals = {}
        if entry.type == "review.opened":
            counts, answer = [(OPENED, kind)], RULE_ASKED
            if kind not in SERVER_KINDS:
                totals["reviews_opened"] = 1
        elif entry.type == "review.expired":
            counts, answer = [(EXPIRED, kind)], RULE_EXPIRED
        else:
            counts = [(RULED, f"{kind}:{payload['action']}")]
            answer = _RULE_ANSWERS.get(payload["action"], "")
            if payload.get("grant") is not None:
                totals["tool_calls"] = 1
            if payload.get("folded"):
                counts.append((NOT_ASKED, FOLDED))
        counts += [(answer, rule) for rule in rules if answer]
        yield Added(entry=entry, totals=totals, counts=counts)


def _read_reviews(codes: Sequence[str]) -> Mapping[str, _Asked]:
    rows = Review.objects.filter(code__in=codes).values_list("code", "kind")
    found = {str(code): _Asked(kind, ()) for code, kind in rows}
    confirmations = [
        code for code, asked in found.items() if asked.kind == Kind.CONFIRMATION
    ]
    texts = Review.objects.filter(code__in=confirmations).values_list(
        "code", build_findings_expression()
    )
    for code, text in texts:
        rules = dict(list_rules_that_ask(json.loads(text)))
        found[str(code)] = _Asked(Kind.CONFIRMATION.value, tuple(rules))
    return found
