"""What a run remembers of its earlier steps, for judging the next one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.runs.allowances import Allowance, read_allowances
from guidance.core.runs.facts import FactError, StepReport
from guidance.core.runs.plans import RunPlan, read_plan
from guidance.core.runs.trace import StepTrace, Trace

# No run keeps more steps in memory than this, so no window may be wider.
TRACE_LIMIT = 100
# A model looks at so many calls of a run at most; what comes then is for people.
LOOKED_LIMIT = 100
# A longer signature is remembered by its digest, so that a run's memory stays small.
# A digest is longer than this, hence never taken for a signature that was kept whole.
SIGNATURE_KEPT = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTally:
    """What the gateway saw since the last step: calls let through, failures, findings.

    A step's own figures count what went around the gateway, never the same call twice.
    """

    granted: int = 0
    settled: int = 0
    failed: int = 0
    weight: float = 0.0

    def count_verdict(self, *, weight: float, granted: bool) -> CallTally:
        return CallTally(
            granted=self.granted + granted,
            settled=self.settled,
            failed=self.failed,
            weight=self.weight + weight,
        )

    def count_result(self, *, ok: bool) -> CallTally:
        return replace(self, settled=self.settled + 1, failed=self.failed + (not ok))


NO_CALLS = CallTally()


class Memory(NamedTuple):
    """What a run's earlier steps left behind for judging the next one.

    `trace` has the newest step last. `segment` counts the steps since the run began
    or a pause was approved: the rework window, repetition and slope see only those.
    `delay_ms` is what the last answer asked to wait, `ignored_waits` how many such waits
    in a row were not kept. `allowances` are those that people gave and that have not ended,
    `plan` is the approved one that stands, `looked` marks what a model has looked at.
    """

    steps: int = 0
    rework_steps: int = 0
    last_step: int = 0
    last_checkpoint_step: int = 0
    throttles: int = 0
    segment: int = 0
    trace: Trace = Trace()
    calls: CallTally = NO_CALLS
    delay_ms: int = 0
    ignored_waits: int = 0
    allowances: tuple[Allowance, ...] = ()
    plan: RunPlan | None = None
    looked: tuple[str, ...] = ()

    def count_ignored_waits(self, waited_ms: int | None) -> int:
        """With the next step, which came so long after the last answer; None where that
        says nothing, as within a batch. A twentieth less is long enough: timers and the
        clocks of several processes are not exact."""
        if not self.delay_ms or waited_ms is None:
            return self.ignored_waits
        is_kept = waited_ms * 20 >= self.delay_ms * 19
        return 0 if is_kept else self.ignored_waits + 1

    def add_step(
        self, report: StepReport, *, kept: int, takes_word: bool = False
    ) -> Memory:
        """After a step, whatever was decided; at most `kept` steps stay in the trace."""
        number = report.number
        checkpoint = number if report.checkpoint else self.last_checkpoint_step
        newest = build_trace(report, self.calls, takes_word=takes_word)
        # By their places: by name it takes twice as long (bench steps).
        return Memory(
            self.steps + 1,
            self.rework_steps + report.rework,
            number,
            checkpoint,
            0,
            self.segment + 1,
            self.trace.add_step(newest, kept=kept),
            NO_CALLS,
            0,
            0,
            self.allowances,
            self.plan,
            self.looked,
        )

    def count_call(
        self, calls: CallTally, *, plan: RunPlan | None, looked: tuple[str, ...]
    ) -> Memory:
        """After a call was judged. Written out: `replace` takes three times as long, and
        every call needs one (bench: tool calls)."""
        return Memory(
            steps=self.steps,
            rework_steps=self.rework_steps,
            last_step=self.last_step,
            last_checkpoint_step=self.last_checkpoint_step,
            throttles=self.throttles,
            segment=self.segment,
            trace=self.trace,
            calls=calls,
            delay_ms=self.delay_ms,
            ignored_waits=self.ignored_waits,
            allowances=self.allowances,
            plan=plan,
            looked=looked,
        )

    def start_segment(self) -> Memory:
        """After an approved pause: what led to it is not held against the run again."""
        return self._replace(throttles=0, segment=0, delay_ms=0, ignored_waits=0)

    def start_fresh(self) -> Memory:
        """After a stopped run was reopened: only the totals remain."""
        return self.start_segment()._replace(
            last_checkpoint_step=self.last_step,
            trace=Trace(),
            allowances=(),
            plan=None,
        )

    def set_checkpoint(self, step: int) -> Memory:
        """After a checkpoint of this step; an older one than the last changes nothing."""
        if step > self.last_step:
            raise FactError(
                "step", f"step {step} is later than the last one, {self.last_step}"
            )
        return self._replace(last_checkpoint_step=max(step, self.last_checkpoint_step))

    def to_json(self) -> dict[str, Any]:
        """A compact form: each remembered step is a list in the order of its fields."""
        return {
            **self._list_rare_parts(),
            **self._list_numbers(),
            "trace": [step.to_json() for step in self.trace],
        }

    def write(self, more: Mapping[str, Any]) -> str:
        """The canonical JSON of `to_json` and of `more`, in a sixth of the time that it
        takes to write all of it anew (bench steps)."""
        trace = self.trace.text
        rare = self._list_rare_parts()
        rare.update(more)
        if not rare:
            return (
                f'{{"last_checkpoint_step":{self.last_checkpoint_step:d},'
                f'"last_step":{self.last_step:d},"rework_steps":{self.rework_steps:d},'
                f'"segment":{self.segment:d},"steps":{self.steps:d},'
                f'"throttles":{self.throttles:d},"trace":[{trace}]}}'
            )
        texts = {
            name: to_canonical_json(value)
            for name, value in (self._list_numbers() | rare).items()
        }
        texts["trace"] = f"[{trace}]"
        return "{" + ",".join(f'"{name}":{texts[name]}' for name in sorted(texts)) + "}"

    def _list_numbers(self) -> dict[str, int]:
        return {
            "steps": self.steps,
            "rework_steps": self.rework_steps,
            "last_step": self.last_step,
            "last_checkpoint_step": self.last_checkpoint_step,
            "throttles": self.throttles,
            "segment": self.segment,
        }

    def _list_rare_parts(self) -> dict[str, Any]:
        """No calls, no waits, no allowances, no plan and no looks are not written down:
        runs stored before there were any read the same."""
        calls, parts = self.calls, dict[str, Any]()
        if self.allowances:
            parts["allowances"] = [each.to_json() for each in self.allowances]
        if self.plan:
            parts["plan"] = self.plan.to_json()
        if self.looked:
            parts["looked"] = [*self.looked]
        if calls is not NO_CALLS and calls != NO_CALLS:
            parts["calls"] = [calls.granted, calls.settled, calls.failed, calls.weight]
        if self.delay_ms or self.ignored_waits:
            parts["waits"] = [self.delay_ms, self.ignored_waits]
        return parts

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Memory:
        delay_ms, ignored_waits = document.get("waits", (0, 0))
        return cls(
            steps=document["steps"],
            rework_steps=document["rework_steps"],
            last_step=document["last_step"],
            last_checkpoint_step=document["last_checkpoint_step"],
            throttles=document["throttles"],
            segment=document["segment"],
            trace=Trace(
                StepTrace(
                    tokens=tokens,
                    rework=rework,
                    signature=signature,
                    intent=intent,
                    tool_calls=calls,
                    failed_calls=failed,
                    weight=weight,
                )
                for tokens, rework, signature, intent, calls, failed, weight in (
                    document["trace"]
                )
            ),
            calls=_read_tally(document.get("calls")),
            delay_ms=delay_ms,
            ignored_waits=ignored_waits,
            allowances=read_allowances(document.get("allowances", [])),
            plan=read_plan(document["plan"]) if "plan" in document else None,
            looked=tuple(document.get("looked", ())),
        )


def _read_tally(row: list[Any] | None) -> CallTally:
    if row is None:
        return NO_CALLS
    granted, settled, failed, weight = row
    return CallTally(granted=granted, settled=settled, failed=failed, weight=weight)


def build_trace(
    report: StepReport, calls: CallTally = NO_CALLS, *, takes_word: bool = False
) -> StepTrace:
    """What to remember of a reported step, with what the gateway saw of its calls.

    An agent may tell of more failures than the gateway saw, not of fewer. The first
    version of the gates took its word (`takes_word`), and what it stored stays so.
    """
    failed = report.failed_calls
    if calls.settled and (failed is None or (failed < calls.failed and not takes_word)):
        failed = calls.failed
    signature = report.signature
    if signature is not None and len(signature) > SIGNATURE_KEPT:
        signature = hash_text(signature)
    return StepTrace(
        report.tokens,
        report.rework,
        signature,
        report.intent,
        max(report.tool_calls, calls.granted),
        failed,
        calls.weight,
    )
