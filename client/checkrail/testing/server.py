"""The state behind the fake, and the script it follows."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from checkrail.flows.rulings import RULINGS
from checkrail.testing.fakes import FakeReview, FakeRun, Refusal
from checkrail.testing.scripts import Scripted
from checkrail.testing.shapes import Json

Word = str | Mapping[str, Any]
Answer = tuple[int, Json]
# Hours, in polls: whoever waits longer for nobody waits for ever.
ENDLESS = 400


class FakeServer:
    def __init__(
        self,
        *,
        decisions: Iterable[Word],
        calls: Iterable[Word],
        turns: Iterable[Word],
        rulings: Iterable[Scripted],
        prices: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.decisions, self.calls = deque(decisions), deque(calls)
        self.turns, self.rulings = deque(turns), deque(rulings)
        self.prices = prices
        self.runs: dict[str, FakeRun] = {}
        self.now = 0.0
        self._looks = 0
        self._halt: Json | None = None
        self._released_at = 0.0

    def begin_halt(self, halt: Json, *, lasts: float) -> None:
        self._halt, self._released_at = halt, self.now + lasts

    def end_halt(self) -> None:
        self._halt = None

    def refuse_halted(self, wait: float = 0.0) -> None:
        """Unless it is released within `wait`: time passes until then."""
        self._looks += self._halt is not None and self._released_at == math.inf
        if self._looks > ENDLESS:
            raise AssertionError(
                "Nobody releases the halt, and the agent waits without timeout=."
            )
        if self._halt is not None:
            self.now += min(wait, max(0.0, self._released_at - self.now))
        if self._halt is None or self.now >= self._released_at:
            self._halt = None
            return
        by, reason = self._halt["by"], self._halt["reason"]
        raise Refusal("halted", 409, f"Halted by {by}: {reason}", halt=self._halt)

    def open_review(
        self,
        run: FakeRun,
        kind: str,
        title: str,
        content: Json,
        then: Callable[[Scripted], Json] | None = None,
    ) -> FakeReview:
        if not self.rulings:
            raise AssertionError(
                f"A person is asked ({kind}: {title}), and no ruling is left in the "
                "script: fake_checkrail(rulings=[approve()]), or nobody()."
            )
        script = self.rulings.popleft()
        if script.action not in {*RULINGS[kind], "expire", "nobody"}:
            raise AssertionError(
                f"The script says {script.action} to a review of kind {kind}, which "
                f"takes {', '.join(sorted(RULINGS[kind]))}."
            )
        review = FakeReview(
            run=run,
            kind=kind,
            title=title,
            content=content,
            script=script,
            opened=self.now,
            then=then,
        )
        run.reviews.append(review)
        return review

    def get_review(self, code: str) -> FakeReview:
        for run in self.runs.values():
            for review in run.reviews:
                if review.id == code:
                    return review
        raise Refusal("not-found", 404, "Nothing is found at this address.")

    def pass_time(self, run: FakeRun, review: FakeReview | None, wait: float) -> None:
        """Time passes while somebody waits: to the ruling, or for as long as they wait."""
        if review is not None and review.state == "open":
            self._looks += review.script.action == "nobody"
            if self._looks > ENDLESS:
                raise AssertionError(
                    "Nobody rules, and the agent waits without timeout=."
                )
            left = max(0.0, review.opened + review.script.after - self.now)
            self.now += min(wait, left)
        for each in run.open_reviews:
            each.rule(self.now)


def take_scripted(script: deque[Word], default: str, name: str) -> Json:
    """The next item of a script: a word, or fields of an answer with that word."""
    scripted = script.popleft() if script else default
    return (
        {name: scripted} if isinstance(scripted, str) else {name: default, **scripted}
    )
