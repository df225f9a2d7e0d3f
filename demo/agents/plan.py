"""One run of a profile, step by step. Pure but for the random numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import cycle, islice
from random import Random
from typing import Any

from demo.agents.profile import (
    Ask,
    Call,
    Check,
    Profile,
    Proposal,
    Stop,
    Task,
    Turn,
)

TROUBLE_TURNS = 30
# Trouble begins a few turns sooner or later.
SPREAD = (-2, 3)
CALM = 0.18  # the uncertainty of a turn without trouble
MICROS_PER_TOKEN = 6
# After so many throttles in a row an agent takes smaller steps.
PATIENCE_WITH_THROTTLES = 5
SUMMARY_LIMIT = 300


class RunPlan:
    """What the agent reports next, given what came back."""

    def __init__(self, profile: Profile, *, chance: Random, troubled: bool) -> None:
        self.profile = profile
        self.task: Task = chance.choice(profile.tasks)
        trouble = profile.trouble if troubled else None
        self.budget = {**profile.budget, **(trouble.budget if trouble else {})}
        self.needs_person = trouble is not None and trouble.needs_person
        self._trouble = trouble
        self._chance = chance
        self._throttles = 0
        self._trouble_steps = 0
        before = profile.length
        if trouble is not None:
            before = trouble.after + chance.randint(*SPREAD)
        self._turns = _repeat_turns(profile.usual, before)
        self._trouble_start = len(self._turns)
        if trouble is not None:
            self._turns += _repeat_turns(trouble.turns, TROUBLE_TURNS)
        self._trouble_end = len(self._turns)
        self._turns += profile.ending
        asks = trouble.asks if trouble else ()
        self._asks = chance.choice(asks) if asks else None
        calls = trouble.calls if trouble else ()
        self._wants = chance.choice(calls) if calls else None
        plans = trouble.plans if trouble else ()
        self._proposes = chance.choice(plans) if plans else None
        checks = trouble.checks if trouble else ()
        self._checks = chance.choice(checks) if checks else None
        stops = trouble.stops if trouble else ()
        self._stops = chance.choice(stops) if stops else None
        self._done = 0

    @property
    def ask(self) -> Ask | None:
        """What the agent wants to know before its next step."""
        return self._asks if self._done == self._trouble_start else None

    @property
    def call(self) -> Call | None:
        """The call that the agent wants to make before its next step."""
        if self._wants is not None and self._done == self._trouble_start:
            return self._wants
        return self._next_turn.call if self._next_turn else None

    @property
    def proposal(self) -> Proposal | None:
        """The plan that the agent submits before its next step."""
        return self._proposes if self._done == self._trouble_start else None

    @property
    def check(self) -> Check | None:
        """The gates that the agent puts to its work before its next step."""
        if self._checks is not None and self._done == self._trouble_start:
            return self._checks
        return self._next_turn.check if self._next_turn else None

    @property
    def stop(self) -> Stop | None:
        """How the model's turn ended before its next step."""
        if self._stops is not None and self._done == self._trouble_start:
            return self._stops
        return self._next_turn.stop if self._next_turn else None

    @property
    def starts(self) -> Profile | None:
        """The part of the task that gets a run of its own before the next step."""
        return self._next_turn.starts if self._next_turn else None

    @property
    def next_summary(self) -> str:
        return self._next_turn.summary if self._next_turn else "Finish"

    @property
    def _next_turn(self) -> Turn | None:
        return self._turns[self._done] if self._done < len(self._turns) else None

    def build_next_step(self) -> dict[str, Any] | None:
        """The next step's body without its number; None when the work is done."""
        if self._done >= len(self._turns):
            return None
        turn = self._turns[self._done]
        in_trouble = self._trouble_start <= self._done < self._trouble_end
        self._done += 1
        growth = doubt = 0.0
        if in_trouble and self._trouble is not None:
            self._trouble_steps += 1
            growth, doubt = self._trouble.growth, self._trouble.doubt
        return self._build_body(
            turn,
            trouble_steps=self._trouble_steps if in_trouble else 0,
            growth=growth,
            doubt=doubt,
        )

    def count_throttle(self) -> None:
        self._throttles += 1
        if self._throttles >= PATIENCE_WITH_THROTTLES:
            self._skip_to_ending()

    def take_note(self, note: Mapping[str, Any]) -> None:
        """What a person wrote is what the agent does next; then it goes on as before."""
        said = f"Took up what {note['by']} wrote: {note['text']}"
        turn = Turn(summary=said[:SUMMARY_LIMIT], does=f"note:{note['id']}")
        self._turns.insert(self._done, turn)
        self._trouble_start += self._done <= self._trouble_start
        self._trouble_end += self._done <= self._trouble_end

    def follow_plan(self, proposal: Proposal, *, steps: Collection[str]) -> None:
        """A person approved a plan, or these steps of it: what it names is done next."""
        turns = [
            Turn(summary=step.purpose, does=call.signature, call=call)
            for step in proposal.steps
            for call in step.calls
            if step.purpose in steps
        ]
        turns.insert(-1, proposal.beside)
        self._turns[self._done : self._done] = turns

    def continue_after_ruling(self) -> None:
        """A person let the run go on: it gets to its end from here."""
        self._skip_to_ending()

    def _skip_to_ending(self) -> None:
        self._asks = self._wants = self._proposes = self._checks = self._stops = None
        self._trouble = None
        self._done = max(self._done, self._trouble_end)

    def _build_body(
        self, turn: Turn, *, trouble_steps: int, growth: float, doubt: float
    ) -> dict[str, Any]:
        spread = self._chance.uniform(0.9, 1.1)
        tokens = int(self.profile.tokens * (1 + growth) ** trouble_steps * spread)
        uncertainty = min(
            0.95, CALM + self._chance.uniform(0, 0.06) + doubt * trouble_steps
        )
        return {
            "tokens": tokens,
            "tool_calls": self._chance.randint(1, 3),
            "duration_ms": int(tokens * self._chance.uniform(0.8, 1.6)),
            "cost_usd": f"{tokens * MICROS_PER_TOKEN / 1_000_000:.6f}",
            "rework": turn.rework,
            "uncertainty": round(uncertainty, 2),
            "intent": self.profile.intent,
            "summary": turn.summary,
            "signature": turn.does,
            "failed_calls": turn.failed_calls,
        }

    def build_outcome(self) -> dict[str, Any]:
        """What the agent says when it finishes."""
        added = self._chance.randint(20, 400)
        return {
            "outcome": "completed",
            "summary": self.profile.done,
            "tests": {
                "ran": True,
                "passed": self._chance.randint(40, 300),
                "failed": self.profile.failed_tests,
            },
            "diff": {
                "lines_added": added,
                "lines_removed": added // 3,
                "files_changed": self._chance.randint(1, 9),
            },
        }


def _repeat_turns(turns: Sequence[Turn], count: int) -> list[Turn]:
    """`count` turns, from the beginning again as often as it takes."""
    return list(islice(cycle(turns), count))
