"""The steps that a run remembers, each in few values, and their text as it is stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from guidance.core.canonical import to_canonical_json


class _KeptText:
    """Written once. As `cached_property`, which locks whatever it writes."""

    def __get__(self, step: StepTrace, _: type[StepTrace]) -> str:
        text = step.__dict__["text"] = to_canonical_json([*step])
        return text


class _JoinedTexts:
    """The same for the texts of steps, with commas between them."""

    def __get__(self, trace: Trace, _: type[Trace]) -> str:
        before = trace.__dict__.pop("text_before", "")
        new = trace[-1:] if before else trace
        texts = [step.text for step in new]
        text = trace.__dict__["text"] = ",".join([before, *texts] if before else texts)
        return text


class _StepFacts(NamedTuple):
    tokens: int
    rework: bool = False
    signature: str | None = None
    intent: str | None = None
    tool_calls: int = 0
    failed_calls: int | None = None
    weight: float = 0.0


# Without slots: it keeps its text.
class StepTrace(_StepFacts):
    """What is remembered of one step. `weight` sums the findings on its calls."""

    def to_json(self) -> list[Any]:
        """A list in the order of its fields."""
        return [*self]

    # Its canonical JSON, kept: it is stored with every step that remembers it (bench steps).
    text = _KeptText()


class Trace(tuple[StepTrace, ...]):
    """The steps that a run remembers, the newest last."""

    text = _JoinedTexts()

    def add_step(self, newest: StepTrace, *, kept: int) -> Trace:
        """With this one, and at most `kept` in all. A text that is known is carried on: it
        takes several times as long to join those of all steps (bench steps)."""
        rest = self[1 - kept :] if kept > 1 else ()
        trace = Trace((*rest, newest))
        text = self.__dict__.get("text")
        if text and rest:
            dropped = self[: len(self) - len(rest)]
            start = sum([len(step.text) + 1 for step in dropped])
            trace.__dict__["text_before"] = text[start:]
        return trace


class StepColumns(NamedTuple):
    """Steps that are remembered, by their fields: each is read at once (bench steps)."""

    tokens: tuple[int, ...]
    rework: tuple[bool, ...]
    signature: tuple[str | None, ...]
    intent: tuple[str | None, ...]
    tool_calls: tuple[int, ...]
    failed_calls: tuple[int | None, ...]
    weight: tuple[float, ...]

    @classmethod
    def from_trace(cls, trace: Iterable[StepTrace]) -> StepColumns:
        """Of at least one step."""
        return cls._make(zip(*trace, strict=False))  # all have as many fields
