"""A check that ran out of attempts, with its whole history side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from django.utils.safestring import SafeString

from console.format import format_count
from console.gates.criteria import (
    SEVERITY_TONES,
    ShownCriterion,
    list_criteria,
    name_criteria,
)
from console.queue.kinds.base import (
    Button,
    NoteBox,
    ReviewKind,
    Subject,
    describe_work,
)
from guidance.core.checks import (
    CheckState,
    Event,
    GateDefinition,
    read_gate,
)
from safetext import Mark, ShownText, make_visible, make_visible_line, show_text
from safetext.diffs.changed_words import find_changed_words

_NEW_WORDS = "not in the attempt before"
# With more marks than this a sentence is easier to read without any.
_MARKS_LIMIT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedGate:
    """`failed` tells of the last attempt; None where it did not say which failed."""

    name: str
    description: str
    severity: str
    tone: str
    mode: str
    criteria: tuple[ShownCriterion, ...]
    guidance: str
    failed: bool | None
    # Of several gates; the only one that was asked about has failed in any case.
    alone: bool

    @property
    def summary(self) -> str:
        """What opens when it is clicked."""
        count = len(self.criteria)
        criteria = (
            format_count(count, "criterion", "criteria") if count else "No criteria"
        )
        return f"{criteria} and guidance" if self.guidance else criteria


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

    @property
    def verdict(self) -> tuple[str, str]:
        """Its tone and its words."""
        return ("pause", "PASS without proof") if self.claimed else ("stop", "FAIL")


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The attempts between two resets, and the guidance that they worked under."""

    number: int
    guidance: str
    attempts: tuple[Attempt, ...]
    title: str = ""
    since: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exhausted:
    """What has to be decided about comes first: failed gates, the newest round."""

    gates: tuple[AskedGate, ...]
    rounds: tuple[Round, ...]
    mode: str
    attempts: int
    max_attempts: int
    resets: int
    max_resets: int

    @property
    def failures(self) -> int:
        """In all rounds."""
        return sum(len(item.attempts) for item in self.rounds)

    @property
    def used(self) -> str:
        return f"{self.attempts} of {self.max_attempts} used"

    @property
    def gates_title(self) -> str:
        return "The gate" if len(self.gates) == 1 else f"{len(self.gates)} gates"

    @property
    def has_reset_left(self) -> bool:
        return self.resets < self.max_resets


class ExhaustedKind(ReviewKind[Exhausted]):
    icon: ClassVar[str] = "unpassed"
    word: ClassVar[str] = "Not passed"
    nouns: ClassVar[tuple[str, str]] = ("failed check", "failed checks")
    template: ClassVar[str] = "console/queue/kinds/_exhausted.html"
    properties_template: ClassVar[str] = "console/queue/_attempts.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        state = content["state"]
        return f"attempt {state['attempts']} of {state['max_attempts']}"

    def build_body(self, subject: Subject) -> Exhausted:
        return build_exhausted(subject.content)

    def build_headline(self, subject: Subject, body: Exhausted) -> SafeString:
        count, step = len(body.gates), subject.review.step_number
        did = "did not pass a gate"
        if count != 1:
            did = f"did not pass a check of {count} gates"
        if step:
            did += f" at step {step}"
        if body.failures > body.attempts:
            did += f", {body.failures} attempts in all,"
        return describe_work(subject, did)

    def build_hint(self, subject: Subject, body: Exhausted) -> str:
        retry = "Retry: your words go into the agent’s next prompt."
        if not body.has_reset_left:
            retry = "No reset is left for a retry."
        return f"{retry} Skip: needs a reason, the ledger says “gate not passed”."

    def build_note_box(self, subject: Subject, body: Exhausted) -> NoteBox:
        placeholder = "The reason for a skip; a retry is no longer offered."
        if "retry" in subject.rulings:
            placeholder = (
                "Guidance for a retry, word for word in the agent’s next prompt; "
                "or the reason for a skip."
            )
        return NoteBox(label="Guidance or reason", placeholder=placeholder)

    def list_buttons(self, subject: Subject, body: Exhausted) -> list[Button]:
        buttons = super().list_buttons(subject, body)
        if len(body.gates) == 1:
            return buttons
        return [
            replace(each, label="Skip gates") if each.action == "skip" else each
            for each in buttons
        ]


def build_exhausted(content: Mapping[str, Any]) -> Exhausted:
    gates = [read_gate(document) for document in content["gates"]]
    state = CheckState.from_json(content["state"])
    return Exhausted(
        gates=tuple(
            sorted(
                _list_gates(gates, state.last_failure),
                key=lambda gate: gate.failed is False,
            )
        ),
        rounds=_name_rounds(
            list(_list_rounds(gates, state.history)), max_resets=state.max_resets
        ),
        mode=state.mode,
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
            name=make_visible_line(gate.name),
            description=make_visible(gate.description),
            severity=gate.severity,
            tone=SEVERITY_TONES[gate.severity],
            mode=gate.mode,
            criteria=list_criteria(gate, unproven),
            guidance=make_visible(gate.guidance).strip(),
            failed=number in failed if failed else None,
            alone=len(gates) == 1,
        )


def _list_rounds(
    gates: Sequence[GateDefinition], history: Sequence[Event]
) -> Iterator[Round]:
    number, guidance = 1, ""
    attempts: list[Attempt] = []
    before: Event | None = None
    for event in history:
        if event.what == "failed":
            attempts.append(
                _build_attempt(gates, event, before, number=len(attempts) + 1)
            )
            before = event
        elif event.what == "reset":
            yield Round(number=number, guidance=guidance, attempts=tuple(attempts))
            number, guidance, attempts = number + 1, make_visible(event.said), []
    yield Round(number=number, guidance=guidance, attempts=tuple(attempts))


def _name_rounds(rounds: Sequence[Round], *, max_resets: int) -> tuple[Round, ...]:
    """The newest first; where there is only one, it needs no title."""
    if len(rounds) < 2:
        return tuple(rounds)
    newest = rounds[-1].number
    return tuple(
        replace(
            each,
            title="Newest round" if each.number == newest else f"Round {each.number}",
            since=(
                f"after reset {each.number - 1} of {max_resets}"
                if each.number > 1
                else "before any reset"
            ),
        )
        for each in reversed(rounds)
    )


def _build_attempt(
    gates: Sequence[GateDefinition], event: Event, before: Event | None, *, number: int
) -> Attempt:
    texts = {name: each.text for gate in gates for name, each in name_criteria(gate)}
    return Attempt(
        number=number,
        claimed=bool(event.unproven),
        said=show_text(event.said, marks=_mark_new_words(event, before)),
        # Of a single gate it need not be said which one failed.
        gates=tuple(_list_names(gates, event.failed_gates))
        or tuple(_list_names(gates, (1,)) if len(gates) == 1 else ()),
        unproven=tuple(
            (name, make_visible(texts.get(name, ""))) for name in event.unproven
        ),
        remarks=tuple(map(_split_remark, event.remarks)),
        differences=tuple(_list_differences(gates, event, before)) if before else (),
    )


def _mark_new_words(event: Event, before: Event | None) -> list[Mark]:
    if before is None:
        return []
    _, new = find_changed_words(before.said, event.said)
    marks = [Mark(start=start, end=end, label=_NEW_WORDS) for start, end in new]
    return marks if len(marks) <= _MARKS_LIMIT else []


def _split_remark(remark: str) -> tuple[str, str]:
    about, _, said = remark.partition(": ")
    return make_visible_line(about), make_visible(said)


def _list_names(
    gates: Sequence[GateDefinition], numbers: Sequence[int]
) -> Iterator[str]:
    for number, gate in enumerate(gates, 1):
        if number in numbers:
            yield make_visible_line(gate.name)


def _list_differences(
    gates: Sequence[GateDefinition], event: Event, before: Event
) -> Iterator[Difference]:
    """Of gates only where both attempts say which failed: nothing is guessed."""
    old, new = set(before.failed_gates), set(event.failed_gates)
    if old and new:
        for name in _list_names(gates, sorted(old - new)):
            yield (
                Difference("mute", "dot", "Claimed to pass now", name)
                if event.unproven
                else Difference("go", "check", "No longer fails", name)
            )
        for name in _list_names(gates, sorted(old & new)):
            yield Difference("pause", "retry", "Still fails", name)
        for name in _list_names(gates, sorted(new - old)):
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
