"""Whether a value is made of words, or of letters and digits that nobody would say."""

from __future__ import annotations

import re
from itertools import pairwise

_LONGEST_WORD = 32
# Shorter ones may be any abbreviation.
_SHORT = 8
# Longer ones have more vowels, or they were drawn by chance.
_LONG = 15
_PIECE = re.compile(r"([A-Za-z]*)[0-9]{0,4}")
_GAP = re.compile(r"[-_. /:,=]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SPLIT = re.compile(r"[^A-Za-z]+|(?<=[a-z])(?=[A-Z])")
_NO_VOWELS = re.compile(r"[b-df-hj-np-tv-xz]{5}")
_VOWELS = frozenset("aeiouy")
_ONE_WORD = re.compile(r"[A-Za-z]?[a-z]{2,14}|[A-Z]{3,15}")
# Digits and signs that stand for letters, as in passw0rd.
_LEET = str.maketrans("013457@$", "oieastas")


def split_words(value: str) -> list[str]:
    """The runs of letters in it, in small letters; humps are words of their own."""
    return [word.lower() for word in _SPLIT.split(value) if word]


def is_made_of_words(value: str) -> bool:
    """Words as in names: short ones, run together at most by capitals, few digits."""
    return all(map(_is_name, _GAP.split(value)))


def is_ordinary_word(value: str) -> bool:
    """One word of letters alone, which may stand anywhere and mean something else."""
    return _ONE_WORD.fullmatch(value) is not None and _can_be_said(value)


def is_word_with_signs(value: str) -> bool:
    """Words as people make passwords of them: Passw0rd!, s3cret-pass."""
    plain = value.rstrip("!?.*#").rstrip("0123456789").translate(_LEET)
    return is_made_of_words(plain) and all(map(_can_be_said, _GAP.split(plain)))


def is_sequence(value: str) -> bool:
    """abc123def456: most characters follow the one before them."""
    if len(value) < 2:
        return True
    follows = sum(0 <= ord(after) - ord(one) <= 1 for one, after in pairwise(value))
    return follows * 2 >= len(value)


def _is_name(piece: str) -> bool:
    form = _PIECE.fullmatch(piece)
    if form is None:
        return False
    humps = _HUMP.split(form[1])
    longest, mean = max(map(len, humps)), len(form[1]) / len(humps)
    if longest > _LONGEST_WORD or (len(humps) >= 4 and mean < 3):
        return False
    return all(map(_can_be_said, humps))


def _can_be_said(word: str) -> bool:
    """Five consonants in a row, or hardly a vowel, are no word of any language."""
    if len(word) < _SHORT:
        return True
    folded = word.lower()
    vowels = sum(letter in _VOWELS for letter in folded)
    enough = vowels * (8 if len(word) <= _LONG else 3) >= len(word)
    return enough and not _NO_VOWELS.search(folded)
