"""Whether a value is a secret, once its name has promised one."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Literal

from guidance.core.secrets.defaults import is_documented
from guidance.core.secrets.labels import is_label
from guidance.core.secrets.names import Promise
from guidance.core.secrets.placeholders import is_filler, is_public, is_reference
from guidance.core.secrets.vocabulary import (
    NOUNS,
    PLAIN_WORDS,
)
from guidance.core.secrets.words import is_made_of_words, split_words

LEAST = 3
WEAK_LEAST = 8
# What is looked at of a longer value: filler and references show at once.
_LOOKED_AT = 256
_RANDOM_BITS = 2.5

# How a value is written: in quotes, after NAME= as a shell reads it, or with nothing
# around it, where it may as well be the name of a variable.
Style = Literal["quoted", "env", "bare"]

_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# The pattern of a token, not a token.
_PATTERN = re.compile(r"\\[wdsbWDSB]|\[\^|\][+*]|\(\?")
_WORDS_ONLY = re.compile(r"[^\W\d_]+(?:[-_. '’!?,:/()]+[^\W\d_]+)*[.!?…:)]*")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
# Also as a path of names: form.password, errors/invalid-token.
_NAME = re.compile(r"[A-Za-z_$][A-Za-z_$-]*(?:[./:][A-Za-z_$-]+)*")
_CODE = re.compile(
    r"[&*!]?[A-Za-z_$][\w$]*(?:(?:\?\.|\.|::|->)[A-Za-z_$][\w$]*)+[;,]?"
    r"|[&*!@]?[A-Za-z_$][\w$.:>-]*[(\[{].*|[&*][A-Za-z_]\w*|lambda|function|new|await"
)


def is_secret_value(value: str, promised: Promise, *, style: Style = "quoted") -> bool:
    looked = value[:_LOOKED_AT].strip()
    if len(looked) < LEAST or is_label(looked) or not any(map(str.isalnum, looked)):
        return False
    if looked.strip(".!?…:*").lower() in PLAIN_WORDS or _names_itself(looked):
        return False
    if is_filler(looked) or is_reference(looked) or is_public(looked):
        return False
    if is_documented(looked):
        return False
    if style != "quoted" and _CODE.fullmatch(looked):
        return False
    if style == "bare" and _is_variable(looked):
        return False
    if promised.strong:
        return _is_strong_value(looked, promised, style=style)
    if _UUID.fullmatch(looked):
        return promised.by_uuid
    return is_random(looked)


def _is_strong_value(value: str, promised: Promise, *, style: Style) -> bool:
    if value.isdigit():
        return len(value) >= 4
    if not _WORDS_ONLY.fullmatch(value):
        return style != "bare" or len(value) > LEAST
    # Words alone: a sentence, a label or a translation, unless it is a single one.
    if " " in value and (
        promised.kind == "password" or not NOUNS.isdisjoint(split_words(value))
    ):
        return False
    one = value.isalpha() and value.islower() and len(value) >= 6
    return style != "bare" or one


def is_random(value: str) -> bool:
    """Letters and digits mixed as no word mixes them."""
    if len(value) < WEAK_LEAST or value.isdigit():
        return False
    if " " in value or _PATTERN.search(value) or is_made_of_words(value):
        return False
    if not value.isascii() and _WORDS_ONLY.fullmatch(value):
        # Words of other languages.
        return False
    return compute_entropy(value) >= _RANDOM_BITS


def compute_entropy(text: str) -> float:
    """Bits per character, by how often each one stands in this text."""
    size = len(text)
    counts = Counter(text).values()
    return -sum(count / size * math.log2(count / size) for count in counts)


def _names_itself(value: str) -> bool:
    """user_password, my-app-secret, form.password: a name of the thing, not the thing."""
    if any(map(str.isdigit, value)):
        return False
    words = split_words(value)
    if not words:
        return False
    if len(words) == 1:
        return words[0] in NOUNS or words[0].endswith(("token", "key"))
    return words[-1] in NOUNS and _NAME.fullmatch(value) is not None


def _is_variable(value: str) -> bool:
    if not _IDENTIFIER.fullmatch(value):
        return False
    words = split_words(value)
    return any(word in NOUNS for word in words) or (
        not any(map(str.isdigit, value)) and ("_" in value or len(words) > 1)
    )
