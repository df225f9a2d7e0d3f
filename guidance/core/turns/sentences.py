"""A text as sentences of plain words: lower case, no marks, contractions written out."""

from __future__ import annotations

import re
from typing import NamedTuple

from guidance.core.turns.masking import HIDDEN, mask, straighten

# Seen by nobody, and no reason to take a word for another one.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_DROPPED = dict.fromkeys(map(ord, _INVISIBLE))
_TOKEN = re.compile(
    rf"(?P<word>[\w{HIDDEN}][\w{HIDDEN}'{_INVISIBLE}]*)"
    r"|(?P<end>[.!?\u2026\u3002\uff01\uff1f\u061f]+)"
    r"|(?P<line>\n\s*)"
    r"|(?P<pause>[,;:()|\u2013\u2014]|(?<=\s)-{1,3}(?=\s))"
)
# The groups of a token, by their place in it.
_WORD, _END, _LINE, _PAUSE = range(1, 5)
_NO_PAUSES: frozenset[int] = frozenset()
# What makes a named tuple, without the function that fills in its fields by name.
_new = tuple.__new__
_QUESTION_MARKS = frozenset("?\uff1f\u061f")
# These end a sentence although no blank follows them.
_WIDE_ENDS = frozenset("\u3002\uff01\uff1f")
_CLOSING = frozenset("'\")]}*_~`>")
# What goes on after a mark was one word with it: file.py, value?.name, page?key=1.
_GOING_ON = frozenset("=&/#@$%\\")
# A question mark after one of these is a placeholder of code: id = ?, VALUES (?).
_OPERATORS = frozenset("=([{|&+/%")
_LONG_FORMS = {
    "m": "am",
    "re": "are",
    "ve": "have",
    "ll": "will",
    "d": "would",
    "s": "is",
}
_IRREGULAR = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "won't": ("will", "not"),
}


class Sentence(NamedTuple):
    """`start` and `end` are places in the text that was read.

    `pauses` holds each index of `words` before which a comma or the like stands.
    """

    start: int
    end: int
    words: tuple[str, ...]
    pauses: frozenset[int]
    question: bool
    heading: bool
    paragraph: int


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """Every sentence of the prose in this text, in order."""
    return _Reader(mask(text)).read()


def split_words(phrase: str) -> tuple[str, ...]:
    """The words of a phrase, in the form in which sentences hold theirs."""
    words: list[str] = []
    for token in _TOKEN.finditer(straighten(phrase)):
        if token.lastgroup == "word":
            words += _normalize_word(token[0])
    return tuple(words)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        # Most words of a text come more than once.
        self._plain: dict[str, tuple[str, ...]] = {}

    def read(self) -> tuple[Sentence, ...]:
        """In one loop that calls little: a text may have 100,000 sentences."""
        text, known = self._text, self._plain
        commas = "," in text
        found: list[Sentence] = []
        words: list[str] = []
        pauses: set[int] = set()
        first: re.Match[str] | None = None  # the tokens of the sentence so far
        last: re.Match[str] | None = None
        paragraph, heading = 0, text.startswith("#")
        for token in _TOKEN.finditer(text):
            kind = token.lastindex
            if kind == _WORD:
                word = token[0]
                plain = known.get(word)
                if plain is None:
                    plain = known[word] = _normalize_word(word)
                words += plain
                first, last = first or token, token
                continue
            if kind == _PAUSE:
                pauses.add(len(words))
                continue
            question, blank = False, False
            stop = token.end()
            if kind == _END:
                # Nearly always a blank follows, or nothing.
                if text[stop : stop + 1] not in " \n" and not self._ends(token):
                    continue
                question = token[0] != "." and self._asks(token)
            else:
                blank = token[0].count("\n") > 1
                # A new line is a new sentence, unless the old one plainly goes on in it.
                if not blank and (
                    text[stop : stop + 1].islower()
                    or (commas and self._is_after_comma(token))
                ):
                    continue
            # Marks without a word are one question, however many they are.
            if words or (question and (not found or found[-1].words)):
                parts = (
                    first.start() if first else stop - 1,
                    last.end() if last and kind == _LINE else stop,
                    tuple(words),
                    frozenset(pauses) if pauses else _NO_PAUSES,
                    question,
                    heading,
                    paragraph,
                )
                found.append(_new(Sentence, parts))
                words, pauses = [], set() if pauses else pauses
                first = last = None
            if kind == _LINE:
                paragraph += blank
                heading = text.startswith("#", token.end())
        if words and first and last:
            found.append(
                Sentence(
                    first.start(),
                    last.end(),
                    tuple(words),
                    frozenset(pauses),
                    False,
                    heading,
                    paragraph,
                )
            )
        return tuple(found)

    def _is_after_comma(self, token: re.Match[str]) -> bool:
        place = token.start()
        return self._text[max(0, place - 4) : place].rstrip()[-1:] == ","

    def _ends(self, token: re.Match[str]) -> bool:
        if not _WIDE_ENDS.isdisjoint(token[0]):
            return True
        text, place = self._text, token.end()
        while place < len(text) and text[place] in _CLOSING:
            place += 1
        following = text[place : place + 1]
        return not (following.isalnum() or following in _GOING_ON)

    def _asks(self, token: re.Match[str]) -> bool:
        if _QUESTION_MARKS.isdisjoint(token[0]):
            return False
        before = self._text[max(0, token.start() - 4) : token.start()].rstrip()
        return before[-1:] not in _OPERATORS


def _normalize_word(word: str) -> tuple[str, ...]:
    word = word.casefold().translate(_DROPPED).strip("_'")
    if not word:
        return ()  # a mark of emphasis by itself
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    stem, mark, short = word.rpartition("'")
    return (stem, _LONG_FORMS[short]) if mark and short in _LONG_FORMS else (word,)
