"""Reports and verdicts as the texts of their values, in the order in which RFC 8785 writes
their documents. `ledger.models.step_form` has the names that belong to them. To write the
documents themselves takes three times as long (bench steps)."""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring

from guidance.core.jcs import to_jcs, write_number
from guidance.core.money import format_usd
from guidance.core.runs.facts import StepReport
from guidance.core.runs.score_bands import get_coherence_level, get_uncertainty_level
from guidance.core.steps.advice import build_recommended_action
from guidance.core.steps.judge_step import ContinueVerdict
from guidance.core.steps.scores import CoherenceParts, UncertaintyParts

_WORDS = {True: "true", False: "false"}
_LEVELS: dict[str | None, str] = {
    None: "null",
    "healthy": '"healthy"',
    "degraded": '"degraded"',
    "critical": '"critical"',
    "low": '"low"',
    "moderate": '"moderate"',
    "high": '"high"',
    "extreme": '"extreme"',
}
_GO_ON = encode_basestring(
    build_recommended_action(
        decision="continue", findings=(), delay_ms=0, checkpoint_due=False
    )
)
# Shares are few: agents report two digits, and what is counted is one of so many steps.
_write_share = lru_cache(maxsize=4_096)(write_number)


def list_report_values(report: StepReport) -> tuple[str, ...]:
    return (
        _WORDS[report.checkpoint],
        _write_share(report.coherence),
        ",".join(map(write_number, report.confidences)),
        str(report.cost_micros),
        str(report.duration_ms),
        _write_count(report.failed_calls),
        _write_text(report.intent),
        str(report.number),
        _WORDS[report.rework],
        _write_text(report.signature),
        encode_basestring(report.summary),
        str(report.tokens),
        str(report.tool_calls),
        _write_share(report.uncertainty),
    )


def list_verdict_values(verdict: ContinueVerdict) -> tuple[str, ...]:
    """Parts of a score are one value, with commas between them."""
    metrics, findings, decision = verdict.metrics, verdict.findings, verdict.decision
    seen = metrics.evidence
    left, trend = seen.remaining, seen.trend
    until = max(0, metrics.checkpoint_interval - seen.since_checkpoint)
    cost = left.cost_micros
    go_on = decision == "continue"
    return (
        _WORDS[until == 0],
        f'"{decision}"',
        str(verdict.delay_ms),
        to_jcs([each.to_json() for each in findings]) if findings else "[]",
        "null" if cost is None else f'"{format_usd(max(0, cost))}"',
        _write_rest(left.time_ms),
        _write_rest(left.tokens),
        _write_rest(left.tool_calls),
        "0" if trend is None else _write_share(trend.slope),
        "false" if trend is None else _WORDS[trend.significant],
        _write_share(seen.coherence),
        _write_share(seen.coherence_computed),
        _LEVELS[get_coherence_level(seen.coherence)],
        _join_coherence(seen.coherence_parts),
        _write_share(seen.coherence_reported),
        f'"{seen.coherence_source}"',
        ",".join(map(encode_basestring, metrics.not_evaluated)),
        _write_share(seen.rework_ratio),
        _write_share(seen.rework_ratio_total),
        str(seen.since_checkpoint),
        str(until),
        _write_share(seen.uncertainty),
        _write_share(seen.uncertainty_computed),
        _LEVELS[get_uncertainty_level(seen.uncertainty)],
        _join_uncertainty(seen.uncertainty_parts),
        _write_share(seen.uncertainty_reported),
        f'"{seen.uncertainty_source}"',
        _GO_ON if go_on else encode_basestring(verdict.recommended_action),
    )


@lru_cache(maxsize=4_096)
def _join_coherence(parts: CoherenceParts | None) -> str:
    if parts is None:
        return "null"
    violations, rework, drift = map(_write_share, parts)
    return f"{drift},{rework},{violations}"


@lru_cache(maxsize=4_096)
def _join_uncertainty(parts: UncertaintyParts | None) -> str:
    return "null" if parts is None else ",".join(map(_write_share, parts))


def _write_rest(amount: int | None) -> str:
    """Never below zero: by how much a part is overdrawn is the finding's to tell."""
    return "null" if amount is None else str(max(0, amount))


def _write_count(amount: int | None) -> str:
    return "null" if amount is None else str(amount)


def _write_text(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)
