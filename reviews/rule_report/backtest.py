"""Past calls judged again, under the policy in force and under a draft of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from guidance.core.tools.calls import Call, build_call
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.section import ToolRules
from guidance.redactor import get_fingerprint_key
from reviews.models import Review
from reviews.rule_report.counts import list_confirmations

# Judging one takes a fraction of a millisecond: a page waits for all of them.
CALLS_LIMIT = 300
# So many that people did not approve are named.
EXAMPLES_LIMIT = 5
_ASKED = "require-confirmation"


@dataclass(slots=True, kw_only=True)
class Backtest:
    """`changed` calls would not have been asked about; `answers` is what people said of
    those, `refused` are the ones that they did not simply approve.

    `still_asked` others ask about as well, `settled` are not asked about today either,
    and `unread` were not kept whole.
    """

    calls: int = 0
    changed: int = 0
    still_asked: int = 0
    settled: int = 0
    unread: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    refused: list[Review] = field(default_factory=list)
    judged_all: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "changed": self.changed,
            "still_asked": self.still_asked,
            "settled": self.settled,
            "unread": self.unread,
            "answers": dict(sorted(self.answers.items())),
            "refused": [str(review.code) for review in self.refused],
            "judged_all": self.judged_all,
        }


def judge_past_calls(
    *,
    project_id: int,
    rule: str,
    before: ToolRules,
    after: ToolRules,
    days: int,
    at: datetime,
) -> Backtest:
    """The newest calls that a rule asked about: others it cannot change."""
    since = at - timedelta(days=days)
    # As canonical JSON has it; what only looks alike is sorted out below.
    named = f'"rule":{json.dumps(rule, ensure_ascii=False)}'
    reviews = (
        list_confirmations(project_id=project_id, since=since)
        .filter(content__contains=named)
        .select_related("ruling")
        .order_by("-pk")
    )
    found = Backtest()
    newest = reviews[: CALLS_LIMIT + 1].iterator(chunk_size=100)
    for seen, review in enumerate(newest):
        if seen == CALLS_LIMIT:
            found.judged_all = False
            break
        content = json.loads(review.content)
        if _asks(content, rule):
            found.calls += 1
            _judge_again(found, review, content, before=before, after=after)
    return found


def _judge_again(
    found: Backtest,
    review: Review,
    content: Mapping[str, Any],
    *,
    before: ToolRules,
    after: ToolRules,
) -> None:
    call = _get_call(content)
    if call is None:
        found.unread += 1
    elif _decide(before, call) != _ASKED:
        found.settled += 1
    elif _decide(after, call) == _ASKED:
        found.still_asked += 1
    else:
        found.changed += 1
        ruling = getattr(review, "ruling", None)
        answer = ruling.action if ruling else review.state
        found.answers[answer] += 1
        if answer in {"deny", "abort", "amend"} and len(found.refused) < EXAMPLES_LIMIT:
            found.refused.append(review)


def _decide(rules: ToolRules, call: Call) -> str:
    return judge_call(
        rules=rules, call=call, fingerprint_key=get_fingerprint_key()
    ).decision


def _get_call(content: Mapping[str, Any]) -> Call | None:
    wished = any(
        finding["gate"] == "confirm" and finding["details"].get("by") == "agent"
        for finding in content["findings"]
    )
    return build_call(
        kind=content["call_kind"],
        tool=content["tool"],
        shown=content["shown"],
        confirm=wished,
    )


def _asks(content: Mapping[str, Any], rule: str) -> bool:
    return any(
        finding["decision"] == _ASKED and finding["details"].get("rule") == rule
        for finding in content["findings"]
    )
