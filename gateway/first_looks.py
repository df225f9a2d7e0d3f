"""How people ruled on calls of which a model had said something that they did not see."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import OuterRef, Subquery

from ledger.statistics.registry import Added, CountedEntry
from reviews.models import Kind, SealedLook, ToolCall
from reviews.statistics.attention import COMPARED, build_compared_key


def count_compared(entries: Sequence[CountedEntry]) -> Iterator[Added]:
    """Of rulings: whether the person came to the model's answer."""
    rulings = [
        each for each in entries if each.payload.get("kind") == Kind.CONFIRMATION
    ]
    answers = _read_unseen_answers([each.payload["review"] for each in rulings])
    for entry in rulings:
        answer = answers.get(entry.payload["review"])
        if answer is not None:
            allowed = entry.payload["action"] == "approve"
            key = build_compared_key(answer=answer, allowed=allowed)
            yield Added(entry=entry, counts=[(COMPARED, key)])


def _read_unseen_answers(reviews: Sequence[str]) -> dict[str, str]:
    """By review, what the model would have done, where people were not told."""
    if not reviews:
        return {}
    look = SealedLook.objects.filter(call_code=OuterRef("code"))
    calls = ToolCall.objects.filter(review_id__in=reviews).values_list(
        "review_id", Subquery(look.values("said")[:1])
    )
    found = {str(review): _parse_answer(said) for review, said in calls if said}
    return {review: answer for review, answer in found.items() if answer is not None}


def _parse_answer(said: str) -> str | None:
    try:
        look: Any = json.loads(said)
    except ValueError:
        return None  # it was tampered with: ledger_verify names it
    answer = look.get("answer") if isinstance(look, Mapping) else None
    return answer if answer in ("allow", "deny") else None
