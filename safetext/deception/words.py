"""Words that are seen and still deceive: look-alikes, two spellings, coded hosts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from unicodedata import east_asian_width, is_normalized

from safetext.characters import describe
from safetext.deception.hosts import get_other_form
from safetext.deception.lookalikes import (
    DASHES,
    LETTERS,
    NAMES,
    SIGNS,
    STRANGERS,
    get_plain_form,
    get_script,
    is_suspect,
)
from safetext.plain import make_visible


class Odd(StrEnum):
    LOOK_ALIKE = "look-alike"
    SPELLING = "spelling"
    HOST = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """`word` is where it stands, `note` what it really is."""

    kind: Odd
    start: int
    end: int
    word: str
    note: str


# What a host, a path or an option can be made of, and other scripts.
# Longer ones are looked at in parts: no name is that long.
_WORD = re.compile(r"[^\s\"'`<>()\[\]{}|;&=,!?]{1,2048}")
_LINE = re.compile(r"[^\n]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME = re.compile(r"\w[./\\:@_-]\w")
_HOST = re.compile(r"[^/:@?#\\]+")


def find_oddities(text: str) -> Iterator[Oddity]:
    """In order within each kind; two of one kind never overlap."""
    coded = "xn--" in text.lower()
    if text.isascii() and not coded:
        return
    natives = _find_native_scripts(text)
    for found in _find_words(text):
        word, at = found[0], found.start()
        if word.isascii() and not coded:
            continue
        alike = (
            _find_look_alikes(word, natives) if any(map(is_suspect, {*word})) else {}
        )
        yield from _find_hosts(word, at, alike)
        for index in sorted(alike):
            yield Oddity(
                kind=Odd.LOOK_ALIKE,
                start=at + index,
                end=at + index + 1,
                word=word,
                note=f"{describe(word[index])}, {alike[index]}",
            )
        if not is_normalized("NFC", word):
            yield Oddity(
                kind=Odd.SPELLING,
                start=at,
                end=at + len(word),
                word=word,
                note=f"not in composed form (NFC): {_describe_code_points(word)}",
            )


def _find_words(text: str) -> Iterator[re.Match[str]]:
    """Those of lines that could hold something odd."""
    for line in _LINE.finditer(text):
        if not line[0].isascii() or "xn--" in line[0].lower():
            yield from _WORD.finditer(text, line.start(), line.end())


def _find_native_scripts(text: str) -> frozenset[str]:
    """Scripts that this text is written in: it uses letters that deceive nobody."""
    letters = {*text} - LETTERS.keys()
    return frozenset(filter(None, map(get_script, letters)))


def _find_look_alikes(word: str, natives: frozenset[str]) -> dict[int, str]:
    found: dict[int, str] = {}
    named = _NAME.search(word) is not None
    latin = any(get_script(letter) == "LATIN" for letter in word)
    for letters in _LETTERS.finditer(word):
        scripts = Counter(map(get_script, letters[0]))
        strangers = scripts.keys() & STRANGERS
        if "LATIN" in scripts and strangers:
            found |= _find_mixed_letters(letters, scripts)
        elif LETTERS.keys() >= {*letters[0]}:
            # A whole word of look-alikes, of one script or of several: odd beside Latin
            # letters in one name, or where nothing else is written in that script.
            alone = not strangers & natives and "LATIN" in natives
            if latin or (alone and not _is_symbol(letters[0])):
                found |= {
                    letters.start() + index: f"looks like {LETTERS[letter]}"
                    for index, letter in enumerate(letters[0])
                }
    asian = any(other.isalpha() and east_asian_width(other) == "W" for other in word)
    for index, character in enumerate(word):
        like = _get_sign(word, index, named=named) or get_plain_form(character)
        if named and not like:
            like = NAMES.get(character, "")
        # Wide signs are at home between wide letters.
        if like and (character.isalnum() or not asian):
            found[index] = f"looks like {like}"
    return found


def _find_mixed_letters(
    letters: re.Match[str], scripts: Counter[str]
) -> dict[int, str]:
    """The letters of a word that do not belong to its main script."""
    main = max(scripts, key=lambda script: (scripts[script], script == "LATIN"))
    found: dict[int, str] = {}
    for index, letter in enumerate(letters[0], start=letters.start()):
        script = get_script(letter)
        if script == main or script not in STRANGERS | {"LATIN"}:
            continue
        if letter in LETTERS:
            found[index] = f"looks like {LETTERS[letter]}"
        elif script != "GREEK" and main != "GREEK":
            found[index] = f"among {main.capitalize()} letters"
    return found


def _is_symbol(letters: str) -> bool:
    """A Greek letter alone names a number or an angle."""
    return len(letters) == 1 and get_script(letters) == "GREEK"


def _get_sign(word: str, index: int, *, named: bool) -> str:
    character = word[index]
    before, after = word[index - 1 : index], word[index + 1 : index + 2]
    if character in SIGNS:
        near = before + after
        return SIGNS[character] if near.isascii() and near else ""
    if character not in DASHES:
        return ""
    if not before:
        return "-" if after in {*DASHES, "-"} or _is_letter(after) else ""
    return "-" if named and _is_letter(before) and _is_letter(after) else ""


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalpha()


def _find_hosts(word: str, at: int, alike: dict[int, str]) -> Iterator[Oddity]:
    for part in _HOST.finditer(word):
        start, end = part.span()
        # A file's name has a dot as well: a host stands in an address, or is coded, or
        # deceives.
        addressed = word.endswith(("://", "@"), 0, start)
        other = get_other_form(part[0])
        if other and (
            addressed
            or part[0].isascii()
            or any(index in alike for index in range(start, end))
        ):
            yield Oddity(
                kind=Odd.HOST,
                start=at + start,
                end=at + end,
                word=part[0],
                note=f"in its other form {make_visible(other)}",
            )


def _describe_code_points(word: str) -> str:
    strange = [describe(character) for character in word if not character.isascii()]
    more = f" and {len(strange) - 4} more" if len(strange) > 4 else ""
    return ", ".join(strange[:4]) + more
