"""What people wrote to the agent of a run and it has not read yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadNotes:
    """Ids of notes, the oldest first: those that wait for the agent's next answer, and
    those that an answer has carried and no later step has followed."""

    waiting: tuple[str, ...] = ()
    delivered: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.waiting or self.delivered)

    def add(self, code: str) -> UnreadNotes:
        return UnreadNotes(waiting=(*self.waiting, code), delivered=self.delivered)

    def deliver(self, codes: Iterable[str]) -> UnreadNotes:
        """Those among these that waited are delivered."""
        named = set(codes)
        moved = (code for code in self.waiting if code in named)
        return UnreadNotes(
            waiting=tuple(code for code in self.waiting if code not in named),
            delivered=(*self.delivered, *moved),
        )

    def read(self, codes: Iterable[str]) -> UnreadNotes:
        named = set(codes)
        left = (code for code in self.delivered if code not in named)
        return UnreadNotes(waiting=self.waiting, delivered=tuple(left))

    def to_json(self) -> list[list[str]]:
        return [[*self.waiting], [*self.delivered]]

    @classmethod
    def from_json(cls, document: list[Any]) -> UnreadNotes:
        waiting, delivered = document
        return cls(
            waiting=tuple(map(str, waiting)), delivered=tuple(map(str, delivered))
        )


NO_NOTES = UnreadNotes()
