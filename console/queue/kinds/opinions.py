"""What a model said of a call before a person was asked, as it is shown beside the call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.look_first import ALLOW, ASK, DENY, GATE
from reviews.models import Review, ReviewState
from reviews.selectors import get_blind_look
from safetext import make_visible_line

_WORDS = {
    ALLOW: ("would let it through", "go"),
    DENY: ("would refuse it", "stop"),
    ASK: ("leaves it to you", "pause"),
}
_NO_ANSWER = ("could not answer", "slow")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownOpinion:
    """`compared` says how the ruling differs from it, where people were not told."""

    word: str
    tone: str
    model: str
    text: str
    compared: str = ""
    differs: bool = False


def build_opinion(review: Review, content: Mapping[str, Any]) -> ShownOpinion | None:
    """None where no model looked, or where nobody is to know yet what it said."""
    for finding in content["findings"]:
        if finding["gate"] == GATE:
            details = finding["details"]
            # The message says what it did, then why.
            text = finding["message"].partition(": ")[2]
            return _build(details["answer"], text, details["model"])
    return _build_blind(review)


def _build_blind(review: Review) -> ShownOpinion | None:
    if review.state != ReviewState.RULED:
        return None
    look = get_blind_look(review)
    if look is None:
        return None
    shown = _build(look.answer, look.reason, look.model)
    if look.answer not in (ALLOW, DENY):
        return replace(shown, compared="not told before the ruling")
    differs = (review.ruling.action == "approve") != (look.answer == ALLOW)
    compared = "the ruling differs" if differs else "as ruled"
    return replace(shown, compared=compared, differs=differs)


def _build(answer: str | None, text: str, model: str) -> ShownOpinion:
    word, tone = _WORDS.get(answer or "", _NO_ANSWER)
    return ShownOpinion(
        word=word,
        tone=tone,
        model=make_visible_line(model),
        text=make_visible_line(text),
    )
