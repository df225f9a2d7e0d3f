"""What the entry of a judged step says, and what its agent is answered of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any

from common.responses import to_json
from gateway.transitions import report_to_json
from gateway.use_cases.review_links import build_review_reference
from guidance.core.jcs import to_jcs
from guidance.core.runs.facts import StepReport
from guidance.core.steps.judge_step import ENGINE_VERSION, ContinueVerdict
from guidance.core.steps.texts import list_report_values, list_verdict_values
from guidance.selectors import LoadedPolicy
from ledger.chain import SealedEntry
from ledger.models.packing import LONG_STEP, pack_text
from ledger.models.step_form import shorten_policy, write_step
from ledger.plan import WrittenText
from reviews.agent_notes.selectors import Note


@dataclass(slots=True, kw_only=True, eq=False)
class StepPayload:
    """`more` are fields that few steps have. Nothing of it changes once it was written, and
    the verdict is not known any more."""

    report: StepReport
    verdict: ContinueVerdict
    policy: LoadedPolicy
    review: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    # Of the verdict, as `WrittenStep` has them.
    _verdict: Sequence[str] = field(default=(), init=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "report": report_to_json(self.report),
            "verdict": self.verdict.to_json(),
            "review": self.review,
            "policy": self.policy.build_stamp(),
            "engine": ENGINE_VERSION,
            **self.more,
        }

    def write(self) -> WrittenText:
        """The same text as `to_jcs` makes of the document."""
        review = "null" if self.review is None else to_jcs(self.review)
        first, between, last = self._write_more()
        text, kept, self._verdict = write_step(
            [
                first,
                str(ENGINE_VERSION),
                shorten_policy(self.policy.stamp),
                *list_report_values(self.report),
                review,
                between,
                *list_verdict_values(self.verdict),
                last,
            ]
        )
        # A run's memory hangs on it: freed later it takes longer (bench batches).
        del self.verdict
        return text, pack_text(text) if len(kept) > LONG_STEP else kept

    def write_answer(
        self, entry: SealedEntry, *, run: str, project_slug: str, notes: Sequence[Note]
    ) -> str:
        """What the agent is answered: of the texts that were written for the entry, in the
        order of VERDICT_FIELDS."""
        due, decision, delay_ms, findings, metrics, action = self._verdict
        review = build_review_reference(self.review, project_slug=project_slug)
        return (
            f'{{"run":{encode_basestring(run)},"step":{self.report.number},'
            f'"decision":{decision},"checkpoint_due":{due},"delay_ms":{delay_ms},'
            f'"findings":{findings},"metrics":{metrics},"recommended_action":{action},'
            f'"review":{"null" if review is None else to_json(review)},'
            f'"policy":{self.policy.stamp},'
            f'"notes":{to_json([*notes]) if notes else "[]"},'
            f'"receipt":{{"seq":{entry.seq},"hash":"{entry.hash}"}}}}'
        )

    def _write_more(self) -> tuple[str, str, str]:
        """Before the engine, before the verdict and behind it."""
        more = self.more
        if not more:
            return "", "", ""
        if len(more) == 1 and "running_ms" in more:
            return "", str(more["running_ms"]), ""
        names = sorted(more)
        first = [name for name in names if name < "engine"]
        between = [name for name in names if "review" < name < "verdict"]
        last = [name for name in names if name > "verdict"]
        if [*first, *between, *last] != names:
            raise ValueError(f"no place in the entry of a step for one of {names}")
        if between == ["running_ms"]:
            written = str(more["running_ms"])
        else:
            written = "".join([f"{each}," for each in self._write_fields(between)])
        return (
            "".join([f"{each}," for each in self._write_fields(first)]),
            written,
            "".join([f",{each}" for each in self._write_fields(last)]),
        )

    def _write_fields(self, names: Iterable[str]) -> list[str]:
        return [f'"{name}":{to_jcs(self.more[name])}' for name in names]
