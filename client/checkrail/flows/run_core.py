"""The state of a run, shared by the blocking and the asynchronous run."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from checkrail.answers import (
    Checkpoint,
    Decision,
    Note,
    Review,
    ReviewRef,
    Ruling,
    RunState,
)
from checkrail.flows.backlog import Backlog
from checkrail.transport.connection import Connection
from checkrail.transport.effects import quote_part

OnCheckpoint = Callable[[Decision], Any]
OnWait = Callable[[ReviewRef], Any]
AnyReview = Review | ReviewRef | str
# How many rulings on pauses are kept until their notes are passed on.
KEPT_RULINGS = 20


class StepTimer:
    """How long a step took, where nobody says it: the time since the step before.

    The time in which a person was waited for, or the server told the agent to wait, is not
    the agent's; and what calls took is reported with their results.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.begin()

    def begin(self) -> None:
        self._began = self._clock()
        self._excluded = 0.0

    def exclude(self, seconds: float) -> None:
        self._excluded += seconds

    def measure_ms(self) -> int:
        """Never less than nothing: calls that ran side by side took longer together."""
        spent = self._clock() - self._began - self._excluded
        return max(0, round(spent * 1000))


class RunCore:
    """The run that flows work on; `Run` and `AsyncRun` add the I/O."""

    def __init__(
        self,
        driver: Any,
        *,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
        batch: int = 1,
    ) -> None:
        self.driver = driver
        self.connection: Connection = driver.connection
        self.on_checkpoint = on_checkpoint
        self.on_wait = on_wait
        self.backlog = Backlog(lock=driver.lock(), batch_size=batch)
        self.ended = False
        # Resumed from another process, so it may be resumed again.
        self.resumed = False
        self.saved_step = 0
        self.saved: Checkpoint | None = None
        # How long a step took, where nobody says it.
        self.timer = StepTimer(self.connection.clock)
        # What models cost; None until a step needs it. And those that have no price.
        self.prices: Mapping[str, Any] | None = None
        self.unpriced_models: set[str] = set()
        self.pause_rulings: deque[Ruling] = deque(maxlen=KEPT_RULINGS)
        # Words for the model that could not be told with the result of a call.
        self.untold: deque[str] = deque()
        # What people wrote to the agent, until it is taken; and the ids of all of it.
        self.notes: deque[Note] = deque()
        self.asked_for_unread = False
        self._noted: set[str] = set()
        self._ruling: Ruling | None = None
        self._state: RunState | None = None
        self._last_step = 0

    @property
    def state(self) -> RunState:
        """The run as the server last gave it; `refresh()` asks again."""
        if self._state is None:
            raise RuntimeError(
                "The run has not begun: `await` it, or use `async with`."
            )
        return self._state

    @property
    def id(self) -> str:
        return self.state.id

    @property
    def url(self) -> str:
        """Where people see the run."""
        return self.state.url

    @property
    def ruling(self) -> Ruling | None:
        """The last ruling that was waited for, whichever call waited; see its `note`."""
        return self._ruling

    @property
    def last_step(self) -> int:
        """The number of the last step that the server has answered."""
        return self._last_step

    def build_path(self, *parts: str) -> str:
        return "/".join(["/runs", quote_part(self.id), *parts])

    def store_state(self, state: RunState) -> RunState:
        """Store the run as the server gives it."""
        self._state = state
        self._last_step = max(self._last_step, state.last_step)
        return state

    def store_ruling(self, kind: str, ruling: Ruling) -> None:
        self._ruling = ruling
        if kind == "pause" and ruling.note:
            self.pause_rulings.append(ruling)

    def store_notes(self, notes: Iterable[Note]) -> None:
        """Keep them until they are taken; an answer that is repeated repeats its notes."""
        for note in notes:
            if note.id not in self._noted:
                self._noted.add(note.id)
                self.notes.append(note)

    def set_last_step(self, number: int) -> None:
        self._last_step = number

    def __repr__(self) -> str:
        if self._state is None:
            return f"<{type(self).__name__}, not begun>"
        return f"<{type(self).__name__} {self.id}, step {self._last_step}>"


def build_reference(review: AnyReview) -> ReviewRef:
    if isinstance(review, ReviewRef):
        return review
    if isinstance(review, str):
        return ReviewRef(id=review, kind="review")
    return ReviewRef(id=review.id, kind=review.kind, url=review.url, title=review.title)
