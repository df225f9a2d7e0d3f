"""What both kinds of run share: where the run stands, and what is still to be told."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from checkrail.answers import (
    Decision,
    Review,
    ReviewRef,
    Ruling,
    RunState,
    Settled,
)
from checkrail.errors import CheckrailError
from checkrail.link import Link
from checkrail.wire import Request, part

OnCheckpoint = Callable[[Decision], Any]
OnWait = Callable[[ReviewRef], Any]
AnyReview = Review | ReviewRef | str
# Rulings on pauses that are kept until somebody passes their notes on.
UNREAD_RULINGS = 20


@dataclass(eq=False)
class Report:
    """One step on its way. `owned` while the call that reported it is waiting."""

    figures: Mapping[str, Any]
    owned: bool = False
    decision: Decision | None = None
    refusal: CheckrailError | None = None

    @property
    def settled(self) -> bool:
        return self.decision is not None or self.refusal is not None


@dataclass(eq=False)
class CallResult:
    """What came of a call, on its way. `owned` while whoever reports it is waiting."""

    tool: str
    request: Request
    owned: bool = False
    settled: Settled | None = None
    refusal: CheckrailError | None = None
    # It was answered with something that is not the contract's.
    misunderstood: bool = False


@dataclass(eq=False)
class Backlog:
    """Steps and results that are not answered yet, in order, and answers nobody has
    obeyed yet."""

    order: Any
    queue: deque[Report] = field(default_factory=deque)
    results: deque[CallResult] = field(default_factory=deque)
    heard: deque[Decision | ReviewRef] = field(default_factory=deque)
    troubles: deque[Exception] = field(default_factory=deque)
    # How many steps go into one request.
    size: int = 1

    @property
    def held(self) -> bool:
        """Something was heard that nothing may be sent before."""
        return any(
            isinstance(heard, ReviewRef) or heard.decision in ("pause", "stop")
            for heard in list(self.heard)
        )

    @property
    def unsent(self) -> str:
        """In words, such as "2 steps and the result of Bash"; empty if there is nothing."""
        steps = len(self.queue)
        parts = [f"{steps} step{'s' if steps > 1 else ''}"] if steps else []
        tools = ", ".join(result.tool for result in self.results)
        if tools:
            what = "result" if len(self.results) == 1 else "results"
            parts.append(f"the {what} of {tools}")
        return " and ".join(parts)

    @property
    def due(self) -> bool:
        """A checkpoint was asked for that nobody has saved yet."""
        return any(
            not isinstance(heard, ReviewRef) and heard.checkpoint_due
            for heard in list(self.heard)
        )


class RunCore:
    """Flows take one of these; `Run` and `AsyncRun` are what drives them."""

    def __init__(
        self,
        driver: Any,
        *,
        on_checkpoint: OnCheckpoint | None = None,
        on_wait: OnWait | None = None,
        batch: int = 1,
    ) -> None:
        self.driver = driver
        self.link: Link = driver.link
        self.on_checkpoint = on_checkpoint
        self.on_wait = on_wait
        self.backlog = Backlog(order=driver.lock(), size=batch)
        self.ended = False
        # Taken up from another process: whoever did that may do it again.
        self.resumed = False
        self.saved_step = 0
        self.warned_of_checkpoint = False
        self.pause_rulings: deque[Ruling] = deque(maxlen=UNREAD_RULINGS)
        self._ruling: Ruling | None = None
        self._state: RunState | None = None
        self._last_step = 0

    @property
    def state(self) -> RunState:
        """The run as last heard; `refresh()` asks anew."""
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

    def path(self, *parts: str) -> str:
        return "/".join(["/runs", part(self.id), *parts])

    def stands(self, state: RunState) -> RunState:
        """Take over what the server says."""
        self._state = state
        self._last_step = max(self._last_step, state.last_step)
        return state

    def store_ruling(self, kind: str, ruling: Ruling) -> None:
        self._ruling = ruling
        if kind == "pause" and ruling.note:
            self.pause_rulings.append(ruling)

    def stepped(self, number: int) -> None:
        self._last_step = number

    def __repr__(self) -> str:
        if self._state is None:
            return f"<{type(self).__name__}, not begun>"
        return f"<{type(self).__name__} {self.id}, step {self._last_step}>"


def reference(review: AnyReview) -> ReviewRef:
    if isinstance(review, ReviewRef):
        return review
    if isinstance(review, str):
        return ReviewRef(id=review, kind="review")
    return ReviewRef(id=review.id, kind=review.kind, url=review.url, title=review.title)


def given(**values: Any) -> dict[str, Any]:
    """Without what was left out: the server knows its own defaults."""
    return {
        name: value
        for name, value in values.items()
        if value is not None and value != () and value != "" and value is not False
    }
