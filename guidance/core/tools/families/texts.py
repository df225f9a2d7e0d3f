"""The texts of a call, each of which costs a little of what its reading may take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.texts import Text, list_texts

# Texts that cost as much as one word of a command.
_AT_ONCE = 4


def list_all_texts(evidence: CallEvidence) -> Iterator[Text]:
    return count_texts(evidence, list_texts(evidence.arguments, "/arguments"))


def count_texts(evidence: CallEvidence, texts: Iterable[Text]) -> Iterator[Text]:
    """The same texts, until there are more than is read in one call."""
    for number, text in enumerate(texts, 1):
        if number % _AT_ONCE == 0:
            evidence.reading.count_step()
        yield text
