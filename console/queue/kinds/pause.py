"""A run that a gate paused, one line a measure; those outside their limit first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.safestring import SafeString

from console.charts import draw_gauge
from console.format import format_change
from console.queue.allowances.offer import AllowanceOffer, build_allowance_offer
from console.queue.kinds.base import ReviewKind, Subject, describe_work
from console.runs.rows import Amount
from console.runs.scores import describe_both
from guidance.core.number_format import (
    format_beside,
    format_percent,
    format_percent_beside,
    format_plain,
)
from guidance.core.vocabulary import get_severity
from reviews.models import Review
from safetext import make_visible

TONES = {"stop": "stop", "pause": "pause", "throttle": "slow"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    measures: list[Measure]
    outside: str
    policy: str


class PauseKind(ReviewKind[Pause]):
    icon: ClassVar[str] = "pause"
    word: ClassVar[str] = "Paused"
    nouns: ClassVar[tuple[str, str]] = ("pause", "pauses")
    hint: ClassVar[str] = (
        "Approve lets the run continue and its counters start again; abort ends it."
    )
    says_once: ClassVar[str] = "this once"
    template: ClassVar[str] = "console/queue/kinds/_pause.html"
    is_about_last_step: ClassVar[bool] = True

    def build_chip(self, content: Mapping[str, Any]) -> str:
        """The gate that paused it."""
        for finding in content["decision"]["findings"]:
            if finding["decision"] == "pause":
                return str(finding["gate"]).replace("_", " ")
        return "pause"

    def build_fold_title(self, review: Review, content: Mapping[str, Any]) -> str:
        return f"Paused by {self.build_chip(content)}"

    def is_rising(self, content: Mapping[str, Any]) -> bool:
        findings = content["decision"]["findings"]
        return any(finding["gate"] == "slope" for finding in findings)

    def build_body(self, subject: Subject) -> Pause:
        measures = list_measures(subject.content, amounts=subject.run.amounts)
        outside = sum(1 for measure in measures if measure.tone)
        return Pause(
            measures=measures,
            outside=f"{outside} of {len(measures)} outside limits",
            policy=f"policy {subject.run.policy}",
        )

    def build_headline(self, subject: Subject, body: Pause) -> SafeString:
        return describe_work(
            subject, f"was paused at step {subject.review.step_number}"
        )

    def build_allowance_offer(self, subject: Subject) -> AllowanceOffer | None:
        return build_allowance_offer(subject.review, subject.content)

    def count_tokens(self, subject: Subject) -> int:
        """When it was paused: a run moves on after its ruling."""
        run = subject.review.run
        left = subject.content["decision"]["metrics"]["budget_remaining"]["tokens"]
        if run.tokens_limit is None or left is None:
            return run.tokens_used
        return run.tokens_limit - int(left)

    def quote_last_step(self, subject: Subject) -> tuple[str, str]:
        step = subject.content["step"]
        return make_visible(step.get("summary") or ""), make_visible(
            step.get("signature") or ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """`tone` is empty within the limit; colour means: look here."""

    name: str
    value: str
    limit: str
    verdict: str
    gauge: SafeString
    tone: str = ""
    known: bool = True

    @property
    def chip(self) -> str:
        """The tone of its verdict."""
        return self.tone or ("go" if self.verdict == "ok" else "")


def list_measures(
    content: Mapping[str, Any], *, amounts: tuple[Amount, ...]
) -> list[Measure]:
    """What the continue gate measured when it paused the run."""
    metrics, limits = content["decision"]["metrics"], content["limits"]
    found = {item["gate"]: item for item in content["decision"]["findings"]}
    not_judged = set(metrics.get("not_evaluated", ())) - set(found)
    rows = [
        ("rework", _build_rework(metrics, limits)),
        ("uncertainty", _build_uncertainty(metrics, limits)),
        ("coherence", _build_coherence(metrics, limits)),
        ("slope", _build_slope(metrics, limits)),
        ("step_limit", _build_steps(metrics, limits)),
        ("budget", _build_budget(amounts)),
    ]
    if "repetition" in found:
        rows.append(("repetition", _build_repetition(found["repetition"], limits)))
    if "limits" in found:
        rows.append(("limits", _SHARED_LIMITS))
    if "throttle_ignored" in found:
        rows.append(("throttle_ignored", _build_ignored(found["throttle_ignored"])))
    # Both gates speak about the same figure; only the worse one is a trip.
    found.setdefault("step_limit", found.get("checkpoint"))
    judged = [
        (
            found.get(gate),
            _build_measure(row, found.get(gate), not_judged=gate in not_judged),
        )
        for gate, row in rows
        if row is not None
    ]
    judged.sort(key=lambda pair: get_severity(pair[0]["decision"]) if pair[0] else 9)
    return [measure for _, measure in judged]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    name: str
    value: str
    limit: str
    share: float
    tick: float
    beyond: str = "over"
    known: bool = True


# A limit that is reached stops; this line is for one that could not be judged.
_SHARED_LIMITS = _Row(
    name="Shared limits",
    value="–",
    limit="with other runs",
    share=0.0,
    tick=0.8,
    beyond="reached",
)


def _build_measure(
    row: _Row, finding: Mapping[str, Any] | None, *, not_judged: bool
) -> Measure:
    known = row.known and not not_judged
    if finding is not None and finding["decision"] == "checkpoint":
        verdict, tone = "due", ""
    elif finding is not None:
        # A gate that failed holds without a limit to compare with.
        verdict = "not judged" if finding["limit"] is None else row.beyond
        tone = TONES.get(finding["decision"], "")
    else:
        verdict, tone = ("ok" if known else "not known"), ""
    return Measure(
        name=row.name,
        value=row.value if known else "–",
        limit=row.limit,
        verdict=verdict,
        tone=tone,
        known=known,
        gauge=draw_gauge(share=row.share if known else 0.0, tick=row.tick),
    )


def _build_rework(metrics: Mapping[str, Any], limits: Mapping[str, Any]) -> _Row:
    value, limit = metrics["rework_ratio"], limits["max_rework_ratio"]
    return _Row(
        name="Rework ratio",
        value=format_percent_beside(value, limit, places=0),
        limit=f"limit {format_percent(limit)}",
        share=value,
        tick=limit,
    )


def _build_uncertainty(metrics: Mapping[str, Any], limits: Mapping[str, Any]) -> _Row:
    value, limit = metrics["uncertainty"], limits["max_uncertainty"]
    return _Row(
        name="Uncertainty",
        value=_format_score(value, limit),
        limit=_add_both(
            f"limit {format_plain(limit, places=2)}", metrics, "uncertainty"
        ),
        share=value or 0.0,
        tick=limit,
        known=value is not None,
    )


def _build_coherence(metrics: Mapping[str, Any], limits: Mapping[str, Any]) -> _Row:
    value, floor = metrics["coherence"], limits["min_coherence"]
    return _Row(
        name="Coherence",
        value=_format_score(value, floor),
        limit=_add_both(f"floor {format_plain(floor, places=2)}", metrics, "coherence"),
        share=value or 0.0,
        tick=floor,
        beyond="under",
        known=value is not None,
    )


def _build_slope(metrics: Mapping[str, Any], limits: Mapping[str, Any]) -> _Row:
    value, limit = metrics["budget_slope"], limits["max_budget_slope"]
    scale = max(2 * limit, value, 0.001)
    return _Row(
        name="Spend slope",
        value=format_change(value, limit=limit),
        limit=f"limit {format_percent(limit)} a step",
        share=value / scale,
        tick=limit / scale,
        beyond="rising",
    )


def _build_steps(metrics: Mapping[str, Any], limits: Mapping[str, Any]) -> _Row:
    value, limit = metrics["steps_since_checkpoint"], limits["max_consecutive_steps"]
    scale = max(limit * 1.25, value)
    return _Row(
        name="Since checkpoint",
        value=str(value),
        limit=f"limit {limit} steps",
        share=value / scale,
        tick=limit / scale,
    )


def _build_budget(amounts: tuple[Amount, ...]) -> _Row | None:
    """The fullest part of the budget; none when nothing is limited."""
    limited = [(item.share, item) for item in amounts if item.share is not None]
    if not limited:
        return None
    share, fullest = max(limited, key=lambda pair: pair[0])
    return _Row(
        name="Budget used",
        value=fullest.percent,
        limit=f"of {fullest.name.lower()}",
        share=share * 0.8,
        tick=0.8,
        beyond="used up",
    )


def _build_repetition(finding: Mapping[str, Any], limits: Mapping[str, Any]) -> _Row:
    limit = limits["repeat_limit"]
    value = finding["value"] if finding["value"] is not None else limit
    return _Row(
        name="Repeated step",
        value=f"{value:g} ×",
        limit=f"limit {limit} ×",
        share=min(1.0, value / (limit * 1.25)),
        tick=0.8,
        beyond="repeats",
    )


def _build_ignored(finding: Mapping[str, Any]) -> _Row:
    value, limit = finding["value"], finding["limit"]
    return _Row(
        name="Delays not waited",
        value="–" if value is None else f"{value} ×",
        limit="" if limit is None else f"limit {limit} ×",
        share=min(1.0, value / (limit * 1.25)) if limit else 0.0,
        tick=0.8,
        beyond="ignored",
        known=value is not None,
    )


def _add_both(limit: str, metrics: Mapping[str, Any], score: str) -> str:
    return ", ".join(filter(None, (limit, describe_both(metrics, score))))


def _format_score(value: float | None, limit: float) -> str:
    return "–" if value is None else format_beside(value, limit, places=2)
