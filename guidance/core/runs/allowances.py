"""What a person allows a run beforehand: one signal, up to a value, for so many steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """`gate` does not pause the run up to `up_to`: in `steps` steps, the last of which is
    `last_step`, and before `ends_at`. `review` is the one on which `by` gave it."""

    code: str
    review: str
    gate: str
    up_to: float
    steps: int
    last_step: int
    given_at: datetime
    ends_at: datetime
    by: str

    def covers(self, step: int, at: datetime) -> bool:
        return step <= self.last_step and at < self.ends_at

    def count_left(self, last_step: int) -> int:
        """How many steps it still covers after this one."""
        return max(0, min(self.steps, self.last_step - last_step))

    def find_end(self, step: int, at: datetime) -> str | None:
        """Why it covers nothing after this step; None while it does."""
        if at >= self.ends_at:
            return "time"
        return "steps" if step >= self.last_step else None

    def to_json(self) -> list[Any]:
        return [
            self.code,
            self.review,
            self.gate,
            self.up_to,
            self.steps,
            self.last_step,
            self.given_at.isoformat(),
            self.ends_at.isoformat(),
            self.by,
        ]


def read_allowances(rows: Any) -> tuple[Allowance, ...]:
    """As a run's memory has them. What cannot be read allows nothing: it is left out, and
    the run pauses as if it were not there."""
    if not isinstance(rows, list):
        return ()
    found = (_read_allowance(row) for row in rows)
    return tuple(each for each in found if each is not None)


def _read_allowance(row: Any) -> Allowance | None:
    try:
        code, review, gate, up_to, steps, last_step, given_at, ends_at, by = row
        allowance = Allowance(
            code=str(code),
            review=str(review),
            gate=str(gate),
            up_to=float(up_to),
            steps=int(steps),
            last_step=int(last_step),
            given_at=datetime.fromisoformat(given_at),
            ends_at=datetime.fromisoformat(ends_at),
            by=str(by),
        )
    except (TypeError, ValueError, OverflowError):
        return None
    aware = allowance.ends_at.tzinfo is not None
    return allowance if aware and 0 <= allowance.up_to <= 1 else None


def replace_allowance(
    allowances: Sequence[Allowance], given: Allowance
) -> tuple[Allowance, ...]:
    """With this one; of each gate only the newest stands."""
    others = (each for each in allowances if each.gate != given.gate)
    return (*others, given)


def remove_allowance(
    allowances: Iterable[Allowance], code: str
) -> tuple[Allowance, ...]:
    return tuple(each for each in allowances if each.code != code)
