"""What the entry of a judged step says, and what its agent is answered of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any

from common.responses import to_json
from gateway.transitions import report_to_json
from gateway.use_cases.answers.steps import VERDICT_FIELDS
from gateway.use_cases.review_links import build_review_reference
from guidance.core.jcs import to_jcs
from guidance.core.runs.facts import StepReport
from guidance.core.steps.judge_step import ENGINE_VERSION, ContinueVerdict
from guidance.core.steps.texts import write_report, write_verdict_fields
from guidance.selectors import LoadedPolicy
from ledger.chain import SealedEntry
from reviews.agent_notes.selectors import Note


@dataclass(slots=True, kw_only=True, eq=False)
class StepPayload:
    """`more` are fields that few steps have. Nothing of it changes once it was written."""

    report: StepReport
    verdict: ContinueVerdict
    policy: LoadedPolicy
    review: dict[str, Any] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    _verdict: dict[str, str] | None = field(default=None, init=False)

    def to_json(self) -> dict[str, Any]:
        return {
            "report": report_to_json(self.report),
            "verdict": self.verdict.to_json(),
            "review": self.review,
            "policy": self.policy.build_stamp(),
            "engine": ENGINE_VERSION,
            **self.more,
        }

    def write(self) -> str:
        """The same text as `to_jcs` makes of the document."""
        verdict = self._write_verdict()
        fields = {
            "engine": str(ENGINE_VERSION),
            "policy": self.policy.stamp,
            "report": write_report(self.report),
            "review": "null" if self.review is None else to_jcs(self.review),
            "verdict": "{" + _join(verdict, verdict) + "}",
        }
        for name, value in self.more.items():
            fields[name] = str(value) if type(value) is int else to_jcs(value)
        return "{" + _join(sorted(fields), fields) + "}"

    def write_answer(
        self, entry: SealedEntry, *, run: str, project_slug: str, notes: Sequence[Note]
    ) -> str:
        """What the agent is answered: of the texts that were written for the entry."""
        verdict = self._write_verdict()
        review = build_review_reference(self.review, project_slug=project_slug)
        return (
            f'{{"run":{encode_basestring(run)},"step":{self.report.number},'
            f"{_join(VERDICT_FIELDS, verdict)},"
            f'"review":{"null" if review is None else to_json(review)},'
            f'"policy":{self.policy.stamp},'
            f'"notes":{to_json([*notes]) if notes else "[]"},'
            f'"receipt":{{"seq":{entry.seq},"hash":"{entry.hash}"}}}}'
        )

    def _write_verdict(self) -> dict[str, str]:
        if self._verdict is None:
            self._verdict = write_verdict_fields(self.verdict)
        return self._verdict


def _join(names: Iterable[str], texts: Mapping[str, str]) -> str:
    return ",".join([f'"{name}":{texts[name]}' for name in names])
