"""The words by which runs are found: of the run itself, and of its entries.

An app registers what of its entries is searched. That must be text as people are shown it:
what is hidden from them must not be found either.
"""

from __future__ import annotations

import json
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
_parts: dict[str, str] = {}
_read_at = json.JSONDecoder().raw_decode


def register_searched(
    entry_type: str, extract: Extract, *, part: str | None = None
) -> None:
    """For apps at start-up: the texts of such an entry, from its payload. Where it has them
    from one object in it, `part`, nothing else is read (bench steps)."""
    _extracts[entry_type] = extract
    if part is not None:
        _parts[entry_type] = part


def list_searched_types() -> list[str]:
    return sorted(_extracts)


def list_words(text: str) -> list[str]:
    """The words of a text in small letters, each once, in their order."""
    found = (word[:LENGTH_LIMIT] for word in _WORD.findall(text.casefold()))
    return list(dict.fromkeys(found))


def read_entry_text(entry_type: str, payload: str) -> str:
    """All that is searched of an entry, from its payload as it is stored."""
    return " ".join(_extracts[entry_type](_read(payload, _parts.get(entry_type))))


def _read(payload: str, part: str | None) -> Any:
    """Within a text no quotation mark stands without a backslash: this is the name."""
    if part is not None:
        name = f'"{part}":'
        at = payload.find(f"{name}{{")
        if at >= 0:
            return {part: _read_at(payload, at + len(name))[0]}
    return json.loads(payload)


def list_run_words(run: Run) -> list[str]:
    """Needs `agent` to be loaded with the run."""
    labels = (f"{name} {value}" for name, value in run.labels.items())
    texts = (run.task, run.agent.name, run.model, *labels)
    return [mark_code(str(run.code)[-6:]), *list_words(" ".join(texts))]


def mark_code(end: str) -> str:
    """The word that stands for the last six signs of a run's id."""
    return f"{CODE_MARK}{end}"
