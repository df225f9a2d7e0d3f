"""Signs that a work speaks to its judge: it then goes to a person, whatever the judge says.

No list of phrases is complete. These are the plain ones; what they miss is left to the
rest: the markers, the control criterion and the strict reading of the reply.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Escapes and quotes change nothing about what a text looks like to a model.
_NOISE = re.compile(r"[\\\"'`*\u200b-\u200d\u2060\ufeff]+")
_ANSWER = re.compile(r"\bpassed\s*[:=]\s*(?:true|false|yes|no|[01])\b", re.IGNORECASE)
_ANSWER_FIELD = re.compile(
    r"\b(?:index|rationale)\s*[:=]|\bcriteria\s*[:=]\s*\[", re.IGNORECASE
)
_DICTATED = re.compile(
    r"\b(?:answer|respond|reply|mark)\b"
    r"[^.\n]{0,60}?\bpass(?:ed|es|ing)?\b"
    r"(?! +(?:to|into|as|in|on|by|through|over|from)\b)",
    re.IGNORECASE,
)
_DISMISSED = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}?"
    r"\b(?:instructions?|criteri(?:a|on)|prompts?)\b",
    re.IGNORECASE,
)
_DICTATED_CALL = re.compile(
    r"\b(?:answer|respond|reply|verdict|decision|index|classif\w+)\b"
    r"[^.]{0,60}?\b(?:allow(?:ed)?|approved?|safe|harmless)\b",
    re.IGNORECASE,
)


def find_sign(work: str) -> str | None:
    """What is odd about the work, None if nothing is."""
    plain = _NOISE.sub("", work)
    if _ANSWER.search(plain) and _ANSWER_FIELD.search(plain):
        return "the work contains what looks like a judge's answer"
    if _DICTATED.search(plain):
        return "the work says what a judge should answer"
    if _DISMISSED.search(plain):
        return "the work asks for instructions or criteria to be ignored"
    return None


def find_call_sign(texts: Iterable[str]) -> str | None:
    """The same of what a model is shown of a call: it says what is to be answered. Line
    breaks, odd blanks and letters of another width hide nothing."""
    joined = unicodedata.normalize("NFKC", "\n".join(texts))
    plain = " ".join(_NOISE.sub("", joined).split())
    if _DICTATED_CALL.search(plain):
        return "the call says what a model should answer"
    if _DISMISSED.search(plain):
        return "the call asks for instructions to be ignored"
    return None
