"""A text as sentences of plain words: lower case, no marks, contractions written out."""

from __future__ import annotations

import re
from typing import NamedTuple

from guidance.core.turns.masking import HIDDEN, mask, straight

# Seen by nobody, and no reason to take a word for another one.
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_DROPPED = dict.fromkeys(map(ord, _INVISIBLE))
_TOKEN = re.compile(
    rf"(?P<word>[\w{HIDDEN}][\w{HIDDEN}'{_INVISIBLE}]*+)"
    r"|(?P<end>[.!?\u2026\u3002\uff01\uff1f\u061f]++)"
    r"|(?P<line>\n\s*+)"
    r"|(?P<pause>[,;:()|\u2013\u2014]|(?<=\s)-{1,3}+(?=\s))"
)
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


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """Every sentence of the prose in this text, in order."""
    return _Reader(mask(text)).read()


def words_of(phrase: str) -> tuple[str, ...]:
    """The words of a phrase, in the form in which sentences hold theirs."""
    words: list[str] = []
    for token in _TOKEN.finditer(straight(phrase)):
        if token.lastgroup == "word":
            words += _plain(token[0])
    return tuple(words)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._found: list[Sentence] = []
        # Most words of a text come more than once.
        self._plain: dict[str, tuple[str, ...]] = {}
        self._paragraph = 0
        self._heading = text.startswith("#")
        self._begin()

    def read(self) -> tuple[Sentence, ...]:
        for token in _TOKEN.finditer(self._text):
            match token.lastgroup:
                case "word":
                    self._word(token)
                case "end":
                    if self._ends(token):
                        self._finish(token.end(), question=self._asks(token))
                case "line":
                    self._line(token)
                case _:
                    self._pauses.add(len(self._words))
        self._finish(self._end)
        return tuple(self._found)

    def _begin(self) -> None:
        self._words: list[str] = []
        self._pauses: set[int] = set()
        self._start = self._end = -1

    def _word(self, token: re.Match[str]) -> None:
        if self._start < 0:
            self._start = token.start()
        word = token[0]
        plain = self._plain.get(word)
        if plain is None:
            plain = self._plain[word] = _plain(word)
        self._words += plain
        self._end = token.end()

    def _line(self, token: re.Match[str]) -> None:
        """A new line is a new sentence, unless the old one plainly goes on in it."""
        text = self._text
        following = text[token.end() : token.end() + 1]
        blank = token[0].count("\n") > 1
        before = text[max(0, token.start() - 4) : token.start()].rstrip()
        if not blank and (before.endswith(",") or following.islower()):
            return
        self._finish(self._end)
        self._paragraph += blank
        self._heading = following == "#"

    def _finish(self, end: int, *, question: bool = False) -> None:
        # Marks without a word are one question, however many they are.
        alone = question and (not self._found or bool(self._found[-1].words))
        if not self._words and not alone:
            return
        self._found.append(
            Sentence(
                start=end - 1 if self._start < 0 else self._start,
                end=end,
                words=tuple(self._words),
                pauses=frozenset(self._pauses),
                question=question,
                heading=self._heading,
                paragraph=self._paragraph,
            )
        )
        self._begin()

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


def _plain(word: str) -> tuple[str, ...]:
    word = word.casefold().translate(_DROPPED).strip("_'")
    if not word:
        return ()  # a mark of emphasis by itself
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("n't"):
        return (word[:-3], "not")
    stem, mark, short = word.rpartition("'")
    return (stem, _LONG_FORMS[short]) if mark and short in _LONG_FORMS else (word,)
