"""What a reader has to know before reading: short sentences to stand above a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice

from safetext.characters import Invisible, describe, find_invisible, get_reason, is_mark
from safetext.deception.words import Odd, Oddity, find_oddities
from safetext.folding import find_folds
from safetext.pieces import ends_with_crlf
from safetext.plain import make_visible, make_visible_line

# Of each sort so many are named; the rest is counted.
_NAMED = 3
_WORD = 60
# So far a text is looked through for what takes a while to find, and so many finds are
# counted. The pages of the text show all of them.
_LOOKED = 256 * 1024
_ODD = 2000

# What one of them does, what several do.
_SENTENCES = {
    Invisible.DIRECTION: (
        "character changes the writing direction",
        "characters change the writing direction",
    ),
    Invisible.WIDTH: ("character has no width", "characters have no width"),
    Invisible.VARIATION: (
        "variation selector can carry hidden data",
        "variation selectors can carry hidden data",
    ),
    Invisible.BLANK: ("character leaves no ink", "characters leave no ink"),
    Invisible.SPACE: ("space is not the plain one", "spaces are not the plain one"),
    Invisible.BREAK: (
        "character breaks the line in some programs",
        "characters break the line in some programs",
    ),
    Invisible.RETURN: (
        "carriage return would overwrite its line on a terminal",
        "carriage returns would overwrite their line on a terminal",
    ),
    Invisible.CONTROL: (
        "control character would be obeyed by a terminal",
        "control characters would be obeyed by a terminal",
    ),
    Invisible.FORMAT: ("invisible format character", "invisible format characters"),
    Invisible.PRIVATE: (
        "private character looks different everywhere",
        "private characters look different everywhere",
    ),
    Invisible.UNASSIGNED: (
        "code point is no known character",
        "code points are no known characters",
    ),
    Invisible.SURROGATE: ("half of a character", "halves of characters"),
    Invisible.MARK: (
        "combining mark has no letter of its own",
        "combining marks have no letter of their own",
    ),
}


def build_warnings(text: str) -> tuple[str, ...]:
    """The sentences, the most deceiving first; none for a text that is plain."""
    return (*_warn_of_invisible(text), *_warn_of_oddities(text), *_warn_of_folds(text))


def _warn_of_invisible(text: str) -> Iterator[str]:
    found = _count_invisible(text)
    for reason, (one, several) in _SENTENCES.items():
        if reason in found:
            count = found[reason].total()
            said = f"{count:,} {one if count == 1 else several}"
            yield f"{said}: {_join_words([*map(describe, found[reason])])}."
        if reason is Invisible.WIDTH and Invisible.TAG in found:
            yield _describe_tags(text, found[Invisible.TAG].total())


def _count_invisible(text: str) -> dict[Invisible, Counter[str]]:
    found: dict[Invisible, Counter[str]] = {}
    characters = Counter(text)
    for character, count in characters.items():
        reason = get_reason(character)
        if reason is not None:
            found.setdefault(reason, Counter())[character] = count
    if any(map(is_mark, characters)):
        # These depend on where they stand.
        beginning = find_invisible(text[:_LOOKED])
        stacked = Counter(text[at] for at, why in beginning if why is Invisible.MARK)
        if stacked:
            found[Invisible.MARK] = stacked
    if ends_with_crlf(text):
        found.pop(Invisible.RETURN, None)
    return found


def _describe_tags(text: str, count: int) -> str:
    """Tag characters are hidden ASCII that a model reads: spell it out."""
    spelt = "".join(
        chr(ord(character) - 0xE0000)
        for character in text
        if "\U000e0020" <= character <= "\U000e007e"
    )
    said = f"{count:,} invisible tag character{'' if count == 1 else 's'}"
    return f"{said} spelling “{make_visible_line(spelt)}”." if spelt else f"{said}."


def _warn_of_oddities(text: str) -> Iterator[str]:
    by_word: dict[Odd, dict[str, list[Oddity]]] = {kind: {} for kind in Odd}
    for oddity in islice(find_oddities(text[:_LOOKED]), _ODD):
        by_word[oddity.kind].setdefault(oddity.word, []).append(oddity)
    for word, alike in [*by_word[Odd.LOOK_ALIKE].items()][:_NAMED]:
        letters = "letter" if len(alike) == 1 else "letters"
        notes = _join_words([*dict.fromkeys(oddity.note for oddity in alike)])
        yield f"{len(alike):,} look-alike {letters} in “{_cut(word)}”: {notes}."
    for word, hosts in [*by_word[Odd.HOST].items()][:_NAMED]:
        yield f"The host {_cut(word)} is {hosts[0].note}."
    for word in [*by_word[Odd.SPELLING]][:_NAMED]:
        yield f"“{_cut(word)}” can be spelt in other bytes that look the same (NFC, NFD)."
    left = sum(max(len(words) - _NAMED, 0) for words in by_word.values())
    if left:
        yield f"{left:,} more words deceive in such ways; each one is underlined."
    if len(text) > _LOOKED and not text.isascii():
        yield (
            f"Look-alikes are counted in the first {_LOOKED:,} characters only; further "
            "on they are underlined as well."
        )


def _warn_of_folds(text: str) -> Iterator[str]:
    found = [*find_folds(text, within=[(0, len(text))])]
    pushed = [fold for fold in found if fold.end < len(text)]
    if pushed:
        labels = _join_words([*dict.fromkeys(fold.label for fold in pushed)])
        yield f"More text follows behind {labels}."


def _join_words(things: list[str]) -> str:
    more = len(things) - _NAMED
    named = ", ".join(things[:_NAMED])
    return f"{named} and {more:,} more kinds" if more > 0 else named


def _cut(word: str) -> str:
    shown = make_visible(word[:_WORD])
    return shown if len(shown) <= _WORD and len(word) <= _WORD else shown[:_WORD] + "…"
