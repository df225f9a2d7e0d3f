"""Which runs a list shows: one value that the API and the console both make."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

Figure = Literal["cost", "tokens", "steps", "time"]
Operator = Literal[">", ">=", "<", "<=", "="]
# A label's name and its value; no value means any.
Label = tuple[str, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """A figure of a run compared with a number: micro-dollars, tokens, steps or ms."""

    figure: Figure
    operator: Operator
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFilter:
    """Each part narrows the list; several values of a part mean any of them.

    Of `labels` every group must hold, and of a group any label. `policies` are a name and
    perhaps a version. `depths` say how many runs stand above. `accepted` is None for runs
    that nothing is known of. `since` is the first moment that counts, `until` the first
    that does not.
    """

    statuses: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    intents: tuple[str, ...] = ()
    policies: tuple[tuple[str, int | None], ...] = ()
    labels: tuple[tuple[Label, ...], ...] = ()
    parents: tuple[UUID, ...] = ()
    depths: tuple[int, ...] = ()
    accepted: tuple[bool | None, ...] = ()
    bounds: tuple[Bound, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    texts: tuple[str, ...] = ()
    codes: tuple[UUID, ...] = ()


EVERY_RUN = RunFilter()
