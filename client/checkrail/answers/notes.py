"""What people wrote to a running agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from checkrail.answers.parsing import Answer


@dataclass(frozen=True, kw_only=True)
class Note(Answer):
    """A person's word to the agent, which goes on meanwhile."""

    id: str
    text: str
    by: str
    at: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ListedNote(Note):
    """The same with what became of it."""

    state: Literal["waiting", "delivered", "read"]
    delivered_at: str | None = None
    delivered_with: str | None = None
    delivered_step: int | None = None
    read_at: str | None = None


@dataclass(frozen=True, kw_only=True)
class NoteList(Answer):
    items: tuple[ListedNote, ...]
