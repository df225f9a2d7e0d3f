"""Find phrases in sentences as whole words, and tell whether they are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from guidance.core.turns.sentences import Sentence, split_sentences, split_words

PHRASE_CHARACTERS = 120
PHRASE_WORDS = 12

# So many words before a phrase, and after it, belong to it.
_REACH_BEFORE = 5
_REACH_AFTER = 8
_NEGATIONS = frozenset({"not", "never", "neither", "nor", "hardly", "barely"})
# "Before I proceed with it" waits for something.
_PUT_OFF = _NEGATIONS | {"before", "unless", "until", "till"}
# "Once all changes have been made" claims nothing yet.
_UNCLAIMED = _PUT_OFF.union(
    (
        *("if", "once", "when", "whenever", "after", "whether", "assuming"),
        *("provided", "almost", "nearly", "half", "partly", "partially", "without"),
    )
)
_EXCEPTIONS = frozenset(
    ["except", "excluding", "apart", "aside", "if", "unless", "until", "once", "when"]
)
# A new clause begins: what was denied before it is not denied in it.
_JOINTS = frozenset(
    (
        *("and", "but", "so", "because", "therefore", "thus"),
        *("hence", "however", "though", "although", "while", "since"),
    )
)


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases as they were written, and ready to be looked for.

    Looking costs at most PHRASE_WORDS comparisons a word, however many phrases there
    are.
    """

    texts: tuple[str, ...]
    _known: frozenset[tuple[str, ...]] = field(init=False, repr=False, compare=False)
    _lengths: Mapping[str, frozenset[int]] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        known = frozenset(filter(None, map(split_words, self.texts)))
        lengths: dict[str, set[int]] = {}
        for words in known:
            lengths.setdefault(words[0], set()).add(len(words))
        object.__setattr__(self, "_known", known)
        object.__setattr__(
            self, "_lengths", {word: frozenset(n) for word, n in lengths.items()}
        )

    def are_in(self, sentences: Iterable[Sentence]) -> bool:
        """Whether any of the phrases stands there, however it is meant."""
        return any(True for _ in self.find_sentences(sentences))

    def find_sentences(self, sentences: Iterable[Sentence]) -> Iterator[int]:
        """Which of the sentences hold any of the phrases, however they are meant."""
        for number, one in enumerate(sentences):
            if any(True for _ in self._list_places(one)):
                yield number

    def begin(self, sentence: Sentence) -> bool:
        """Whether the sentence begins with any of the phrases."""
        return any(start == 0 for start, _ in self._list_places(sentence))

    def are_meant_in(self, sentences: Iterable[Sentence]) -> bool:
        """Whether any stands there and is neither denied nor put off."""
        return any(
            not _is_denied(one, start, _PUT_OFF)
            for one in sentences
            for start, _ in self._list_places(one)
        )

    def are_claimed_in(self, sentences: Iterable[Sentence]) -> bool:
        """Whether any stands there and is neither denied nor made to depend."""
        return any(
            not _is_denied(one, start, _UNCLAIMED) and not _is_excepted(one, end)
            for one in sentences
            for start, end in self._list_places(one)
        )

    def _list_places(self, sentence: Sentence) -> Iterator[tuple[int, int]]:
        words = sentence.words
        if self._lengths.keys().isdisjoint(words):  # as most sentences are
            return
        for start, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                if words[start : start + length] in self._known:
                    yield start, start + length


def find_places_to_look(sentences: Sequence[Sentence], *lists: Phrases) -> list[int]:
    """Which sentences hold the first word of a phrase of these lists, all of whose words
    come somewhere: few do, and the others need not be looked at."""
    words = frozenset(chain.from_iterable(one.words for one in sentences))
    known = chain.from_iterable(each._known for each in lists)
    apart = {phrase[0] for phrase in known if words.issuperset(phrase)}.isdisjoint
    return [place for place, one in enumerate(sentences) if not apart(one.words)]


def find_phrase_problem(text: str) -> str | None:
    """Why this cannot be a phrase, None if it can."""
    if len(text) > PHRASE_CHARACTERS:
        return f"must have at most {PHRASE_CHARACTERS} characters"
    words = split_words(text)
    if not words:
        return "holds no word"
    if len(words) > PHRASE_WORDS:
        return f"must have at most {PHRASE_WORDS} words"
    if len(split_sentences(text)) > 1:
        return "must lie within one sentence"
    return None


def _is_denied(sentence: Sentence, start: int, by: frozenset[str]) -> bool:
    """Whether one of these words stands before the phrase, in the same clause."""
    words = sentence.words
    for place in range(start, max(0, start - _REACH_BEFORE), -1):
        if place in sentence.pauses or words[place - 1] in _JOINTS:
            return False
        if words[place - 1] in by:
            return True
    return False


def _is_excepted(sentence: Sentence, end: int) -> bool:
    words = sentence.words
    for place in range(end, min(len(words), end + _REACH_AFTER)):
        if place in sentence.pauses or words[place] in _JOINTS:
            return False
        if words[place] in _EXCEPTIONS:
            return True
    return False
