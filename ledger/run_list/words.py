"""The words by which runs are found: of the run itself, and of its entries.

An app registers what of its entries is searched. That must be text as people are shown it:
what is hidden from them must not be found either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ledger.models import Run

# A run is found by so many different words; later ones are left out.
WORDS_LIMIT = 5_000
LENGTH_LIMIT = 64
# Before the end of a run's id, so that a number somebody looks for finds no id.
CODE_MARK = "ʀ"
_WORD = re.compile(r"[^\W_]+")

Extract = Callable[[Mapping[str, Any]], Iterable[str]]
_extracts: dict[str, Extract] = {}


def register_searched(entry_type: str, extract: Extract) -> None:
    """For apps at start-up: the texts of such an entry, from its payload."""
    _extracts[entry_type] = extract


def list_searched_types() -> list[str]:
    return sorted(_extracts)


def is_searched(entry_type: str) -> bool:
    return entry_type in _extracts


def list_words(text: str) -> list[str]:
    """The words of a text in small letters, each once, in their order."""
    found = dict.fromkeys(_WORD.findall(text.casefold()))
    return list(dict.fromkeys(word[:LENGTH_LIMIT] for word in found))


def list_texts(entry_type: str, payload: Mapping[str, Any]) -> list[str]:
    """All that is searched of an entry."""
    texts = list(_extracts[entry_type](payload))
    for text in texts:
        if not isinstance(text, str):
            raise TypeError("no text")
    return texts


def list_run_words(run: Run) -> list[str]:
    """Needs `agent` to be loaded with the run."""
    labels = (f"{name} {value}" for name, value in run.labels.items())
    texts = (run.task, run.agent.name, run.model, *labels)
    return [mark_code(str(run.code)[-6:]), *list_words(" ".join(texts))]


def mark_code(end: str) -> str:
    """The word that stands for the last six signs of a run's id."""
    return f"{CODE_MARK}{end}"
