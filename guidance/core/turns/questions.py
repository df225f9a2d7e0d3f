"""Whether a text asks a person for something, and in which sentence.

When in doubt it does: a question too many costs a person a moment, one too few lets an
agent answer its own request for permission. Three degrees:

- a request stands by its words, with or without a question mark, wherever it is;
- a question stands by its mark, unless the agent answers it itself;
- an offer ("let me know if you'd like changes") is no question at the end of finished
  work. Whoever would go on after one has to ask (see `scoring`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from guidance.core.turns.phrases import Phrases, find_places_to_look
from guidance.core.turns.requests import CHOICES, OFFERS, REQUESTS
from guidance.core.turns.sentences import Sentence

SENTENCE_SHOWN = 300

# Words that an agent begins a question to itself with. "Proceed?" is none.
_WONDERING = frozenset(
    (
        *("why", "what", "how", "where", "who", "when"),
        *("is", "are", "was", "were", "does", "did"),
        *("do", "has", "have", "had"),
    )
)
_FILLERS = frozenset(["so", "but", "and", "now", "then", "hmm", "wait", "ok", "okay"])
# How a sentence begins that answers the question before it: with a finding, or by going
# to look. "I'll do it, then" answers nothing.
_ANSWERS = Phrases(
    (
        *("because", "that's because", "it's because", "this is because"),
        *("the answer", "the reason", "turns out", "it turns out", "apparently"),
        *("i found", "looks like", "it looks like", "to find out", "let me check"),
        *("let me see", "let me look", "let me find", "let me verify", "let me read"),
        *("let me inspect", "let me search", "let me think"),
    )
)
_YES_OR_NO = frozenset({"yes", "no", "nope", "yep"})
_ADDRESSED = frozenset({"you", "your", "yours", "yourself"})


class Asking(NamedTuple):
    """`question` must be answered by a person; `offer` waits for nobody by itself."""

    question: Sentence | None = None
    offer: Sentence | None = None


def find_question(sentences: Sequence[Sentence]) -> Asking:
    """The first sentence that requests something, else the first that asks."""
    places = find_places_to_look(sentences, REQUESTS, OFFERS, CHOICES)
    some = [sentences[place] for place in places]
    for number in REQUESTS.find_sentences(some):
        return Asking(question=some[number])
    offer = next((some[number] for number in OFFERS.find_sentences(some)), None)
    choices = {places[number] for number in CHOICES.find_sentences(some)}
    for place, sentence in enumerate(sentences):
        if sentence.question or place in choices:
            following = sentences[place + 1] if place + 1 < len(sentences) else None
            if not _is_answered(sentence, following):
                return Asking(question=sentence, offer=offer)
    return Asking(offer=offer)


def quote_sentence(content: str, sentence: Sentence) -> str:
    """The sentence as it was written, on one line, and not endless."""
    text = content[sentence.start : sentence.end]
    # Only the beginning is put in order: a sentence may be as long as the whole text.
    line = " ".join(text[: 4 * SENTENCE_SHOWN].replace("**", "").split())
    return line if len(line) <= SENTENCE_SHOWN else line[: SENTENCE_SHOWN - 1] + "…"


def _is_answered(sentence: Sentence, following: Sentence | None) -> bool:
    """Whether the agent asks itself: nobody is spoken to, and the answer comes next."""
    if following is None or not _ADDRESSED.isdisjoint(sentence.words + following.words):
        return False
    if not _wonders(sentence):
        return False
    if sentence.heading:
        return True
    return (
        following.paragraph == sentence.paragraph
        and not following.question
        and _answers(following)
    )


def _wonders(sentence: Sentence) -> bool:
    for word in sentence.words:
        if word not in _FILLERS:
            return word in _WONDERING
    return False


def _answers(sentence: Sentence) -> bool:
    words = sentence.words
    if words[0] in _YES_OR_NO:
        return len(words) == 1 or 1 in sentence.pauses
    return _ANSWERS.begin(sentence)
