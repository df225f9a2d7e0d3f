"""What a decision is made on: the trigger, and a dated snapshot of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from guidance.core.canonical import hash_text, to_canonical_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Why the loop looks now. `identity` is the same for the same trigger sent again."""

    type: str
    source: str
    identity: str
    data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "type": self.type,
            "source": self.source,
            "identity": self.identity,
            "data": dict(self.data),
        }


def build_identity(
    *, type: str, data: Mapping[str, Any], dedupe_key: str | None
) -> str:
    """The sender's own key, else what was sent."""
    named: dict[str, Any] = (
        {"data": data} if dedupe_key is None else {"key": dedupe_key}
    )
    return hash_text(to_canonical_json({"type": type, **named}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A value and when it was read. A stale one is shown, and is no reason to act."""

    value: Any
    at: str
    stale: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"value": self.value, "at": self.at, "stale": self.stale}


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """`recent_log_entries` is a list of {"type", …}, `half_done` counts by their kind."""

    note_queue_length: Measured
    recent_log_entries: Measured
    pending_recommendations: Measured
    active_runs: Measured
    half_done: Measured

    @property
    def state_hash(self) -> str:
        """Of the values alone: the same state looked at twice is the same state."""
        return hash_text(
            to_canonical_json({name: self.get_field(name).value for name in FIELDS})
        )

    @property
    def stale(self) -> tuple[str, ...]:
        return tuple(name for name in FIELDS if self.get_field(name).stale)

    def get_field(self, name: str) -> Measured:
        found: Measured = getattr(self, name)
        return found

    def get_figure(self, name: str) -> int | None:
        """A number that rules compare; None where it is not known or stale.

        `half_done` is its sum and `half_done.paused` one part of it;
        `recent_log_entries.run.failed` counts the entries of that type.
        """
        root, _, part = name.partition(".")
        if root not in FIELDS or self.get_field(root).stale:
            return None
        value = self.get_field(root).value
        if isinstance(value, Mapping):
            counts = {key: count for key, count in value.items() if _is_whole(count)}
            return counts.get(part) if part else sum(counts.values())
        if isinstance(value, list):
            types = [item.get("type") for item in value if isinstance(item, Mapping)]
            return types.count(part) if part else len(value)
        return value if _is_whole(value) and not part else None

    def to_json(self) -> dict[str, Any]:
        return {name: self.get_field(name).to_json() for name in FIELDS}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Snapshot:
        return cls(**{name: Measured(**document[name]) for name in FIELDS})


FIELDS = tuple(each.name for each in fields(Snapshot))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
