"""A check that ran out of attempts, with its whole history side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from console.gates.criteria import (
    SEVERITY_TONES,
    ShownCriterion,
    list_criteria,
    name_criteria,
)
from guidance.core.checks import (
    CheckState,
    Event,
    GateDefinition,
    read_gate,
)
from safetext import Mark, ShownText, show_text, visible, visible_line
from safetext.diffs.changed_words import changed_words

_NEW_WORDS = "not in the attempt before"
# With more marks than this a sentence is easier to read without any.
_MARKS_LIMIT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedGate:
    """`failed` tells of the last attempt; None where it did not say which failed."""

    slug: str
    name: str
    description: str
    severity: str
    tone: str
    mode: str
    criteria: tuple[ShownCriterion, ...]
    guidance: str
    failed: bool | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of something since the attempt before."""

    tone: str
    icon: str
    word: str
    what: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """`claimed`: a PASS was claimed, and the proof for `unproven` was missing."""

    number: int
    claimed: bool
    said: ShownText
    gates: tuple[str, ...]
    unproven: tuple[tuple[str, str], ...]
    remarks: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The attempts between two resets, and the guidance that they worked under."""

    number: int
    guidance: str
    attempts: tuple[Attempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted:
    """What has to be decided about comes first: failed gates, the newest round."""

    gates: tuple[AskedGate, ...]
    rounds: tuple[Round, ...]
    mode: str
    step: int
    attempts: int
    max_attempts: int
    resets: int
    max_resets: int

    @property
    def failures(self) -> int:
        """In all rounds."""
        return sum(len(item.attempts) for item in self.rounds)

    @property
    def hint(self) -> str:
        """What each choice means."""
        retry = "Retry: your words go into the agent’s next prompt."
        if self.resets >= self.max_resets:
            retry = "No reset is left for a retry."
        return f"{retry} Skip: needs a reason, the ledger says “gate not passed”."


def exhausted_of(content: Mapping[str, Any]) -> Exhausted:
    gates = [read_gate(document) for document in content["gates"]]
    state = CheckState.from_json(content["state"])
    return Exhausted(
        gates=tuple(
            sorted(
                _list_gates(gates, state.last_failure),
                key=lambda gate: gate.failed is False,
            )
        ),
        rounds=tuple(_rounds(gates, state.history))[::-1],
        mode=state.mode,
        step=content["step"],
        attempts=state.attempts,
        max_attempts=state.max_attempts,
        resets=state.resets,
        max_resets=state.max_resets,
    )


def _list_gates(
    gates: Sequence[GateDefinition], last: Event | None
) -> Iterator[AskedGate]:
    failed = last.failed_gates if last else ()
    unproven = last.unproven if last else ()
    for number, gate in enumerate(gates, 1):
        yield AskedGate(
            slug=gate.slug,
            name=visible_line(gate.name),
            description=visible(gate.description),
            severity=gate.severity,
            tone=SEVERITY_TONES[gate.severity],
            mode=gate.mode,
            criteria=list_criteria(gate, unproven),
            guidance=visible(gate.guidance).strip(),
            failed=number in failed if failed else None,
        )


def _rounds(
    gates: Sequence[GateDefinition], history: Sequence[Event]
) -> Iterator[Round]:
    number, guidance = 1, ""
    attempts: list[Attempt] = []
    before: Event | None = None
    for event in history:
        if event.what == "failed":
            attempts.append(_attempt(gates, event, before, number=len(attempts) + 1))
            before = event
        elif event.what == "reset":
            yield Round(number=number, guidance=guidance, attempts=tuple(attempts))
            number, guidance, attempts = number + 1, visible(event.said), []
    yield Round(number=number, guidance=guidance, attempts=tuple(attempts))


def _attempt(
    gates: Sequence[GateDefinition], event: Event, before: Event | None, *, number: int
) -> Attempt:
    texts = {name: each.text for gate in gates for name, each in name_criteria(gate)}
    return Attempt(
        number=number,
        claimed=bool(event.unproven),
        said=show_text(event.said, marks=_new_words(event, before)),
        gates=tuple(_names(gates, event.failed_gates)),
        unproven=tuple((name, visible(texts.get(name, ""))) for name in event.unproven),
        remarks=tuple(map(_remark, event.remarks)),
        differences=tuple(_differences(gates, event, before)) if before else (),
    )


def _new_words(event: Event, before: Event | None) -> list[Mark]:
    if before is None:
        return []
    _, new = changed_words(before.said, event.said)
    marks = [Mark(start=start, end=end, label=_NEW_WORDS) for start, end in new]
    return marks if len(marks) <= _MARKS_LIMIT else []


def _remark(remark: str) -> tuple[str, str]:
    about, _, said = remark.partition(": ")
    return visible_line(about), visible(said)


def _names(gates: Sequence[GateDefinition], numbers: Sequence[int]) -> Iterator[str]:
    for number, gate in enumerate(gates, 1):
        if number in numbers:
            yield visible_line(gate.name)


def _differences(
    gates: Sequence[GateDefinition], event: Event, before: Event
) -> Iterator[Difference]:
    """Of gates only where both attempts say which failed: nothing is guessed."""
    old, new = set(before.failed_gates), set(event.failed_gates)
    if old and new:
        for name in _names(gates, sorted(old - new)):
            yield (
                Difference("mute", "dot", "Claimed to pass now", name)
                if event.unproven
                else Difference("go", "check", "No longer fails", name)
            )
        for name in _names(gates, sorted(old & new)):
            yield Difference("pause", "retry", "Still fails", name)
        for name in _names(gates, sorted(new - old)):
            yield Difference("stop", "x", "Fails now, too", name)
    if not event.unproven and before.unproven:
        yield Difference("mute", "dot", "A PASS is no longer claimed")
    for name in before.unproven:
        if event.unproven and name not in event.unproven:
            yield Difference("go", "check", "Proven now", name)
    for name in event.unproven:
        word = "Still without proof" if name in before.unproven else "Without proof now"
        yield Difference("pause", "retry", word, name)
    if event.said == before.said:
        yield Difference("mute", "dot", "The same words as before")
