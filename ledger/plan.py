"""A change in the making: `decide` notes entries, and the run's state follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, overload

from django.db.models import Model

from common.errors import DomainError
from ledger.chain import SealedEntry
from ledger.entry_types import apply_entry
from ledger.state import RunState

T = TypeVar("T")
Answer = Callable[[Sequence[SealedEntry]], T]


# By RFC 8785, and as it is kept (`ledger.models.packing`).
WrittenText = tuple[str, str]


class WrittenPayload(Protocol):
    """One that writes itself."""

    def write(self) -> WrittenText: ...


class Draft(NamedTuple):
    """An entry before it has its place in the chain."""

    type: str
    actor: str
    payload: dict[str, Any] | WrittenPayload
    step_number: int | None = None
    decision: str = ""


class Statement(NamedTuple):
    """A statement of SQL; `%s` stands for each parameter."""

    text: str
    parameters: Sequence[Any] = ()


class Table:
    """A table whose rows are given as values, in the order of these names; what is not
    named is what the model gives every new row."""

    __slots__ = ("model", "names")

    def __init__(self, model: type[Model], *names: str) -> None:
        self.model = model
        self.names = names


class NewRow(NamedTuple):
    """A row of which nobody needs the id, quicker than an instance of its model."""

    table: Table
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiterAnswer:
    """What an agent that waits for `subject` is answered once this change is committed.

    It is known before the database is read, which saves the agent that wakes a query
    (bench waking). `head_seq` is the run's head at that moment, `has_notes` whether its
    agent has notes that it has not read.
    """

    subject: str
    body: dict[str, Any]
    head_seq: int
    has_notes: bool


@dataclass(slots=True)
class Plan:
    """All that is to be stored for one run; `run` is the state that the entries lead to.

    `rows` are inserted in the same transaction, after the run was won by compare-and-set;
    then come `statements`, and then `side_updates`, each by itself. `wakes_waiters` says
    that somebody may be waiting for this change, `takes_calls` that a call may run by it,
    `changes_halts` that other halts of the project stand after it.
    """

    run: RunState
    at: datetime
    drafts: list[Draft] = field(default_factory=list)
    rows: list[Model | NewRow] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    side_updates: list[Callable[[], object]] = field(default_factory=list)
    wakes_waiters: bool = False
    takes_calls: bool = False
    changes_halts: bool = False
    waiter_answer: WaiterAnswer | None = None

    def add_entry(
        self, entry_type: str, *, actor: str, payload: dict[str, Any]
    ) -> None:
        """Add an entry; the state follows."""
        self.drafts.append(Draft(type=entry_type, actor=actor, payload=payload))
        self.run = apply_entry(self.run, entry_type, payload, self.at)

    @property
    def next_seq(self) -> int:
        """Where the next entry will stand in the run's chain."""
        return self.run.head_seq + len(self.drafts) + 1

    @overload
    def change(self) -> Change[None]: ...

    @overload
    def change(self, answer: Answer[T]) -> Change[T]: ...

    def change(self, answer: Answer[Any] | None = None) -> Change[Any]:
        return Change(self, answer)

    def refuse(self, refusal: DomainError) -> Change[Any]:
        """Store what is planned, then refuse the caller."""
        return Change(self, refusal=refusal)


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """A finished plan, and how the caller is answered.

    `answer` gets the entries as they were stored and may read the database: it is called
    before the commit. Without one the caller gets None, and only waits for the commit.
    A `refusal` is raised instead, after the commit: what came too late is stored as such,
    so that it stays too late whatever the clock says next.
    """

    plan: Plan
    answer: Answer[T] | None = None
    refusal: DomainError | None = None

    def build_answer(self, entries: Sequence[SealedEntry]) -> Any:
        return None if self.answer is None else self.answer(entries)
