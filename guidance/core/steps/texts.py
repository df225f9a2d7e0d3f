"""Reports and verdicts as the texts of their values, in the order in which RFC 8785 writes
their documents, with SEPARATOR between them. `ledger.models.step_form` has the names that
belong to them. To write the documents themselves takes five times as long (bench steps)."""

from __future__ import annotations

from functools import lru_cache
from json.encoder import encode_basestring

from guidance.core.jcs import to_jcs, write_number
from guidance.core.money import format_usd
from guidance.core.runs.facts import StepReport
from guidance.core.runs.score_bands import get_coherence_level, get_uncertainty_level
from guidance.core.steps.advice import build_recommended_action
from guidance.core.steps.judge_step import ContinueVerdict

# No JSON text holds it: control characters are escaped there.
SEPARATOR = "\x1e"
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


def join_report(report: StepReport) -> str:
    confidences = ",".join(map(write_number, report.confidences))
    return (
        f"{_WORDS[report.checkpoint]}\x1e{_write_share(report.coherence)}\x1e"
        f"{confidences}\x1e{report.cost_micros}\x1e{report.duration_ms}\x1e"
        f"{_write_count(report.failed_calls)}\x1e{_write_text(report.intent)}\x1e"
        f"{report.number}\x1e{_WORDS[report.rework]}\x1e{_write_text(report.signature)}\x1e"
        f"{encode_basestring(report.summary)}\x1e{report.tokens}\x1e{report.tool_calls}\x1e"
        f"{_write_share(report.uncertainty)}"
    )


def join_verdict(verdict: ContinueVerdict) -> str:
    """Parts of a score have commas between them; of their names the order is kept, too."""
    metrics, findings, decision = verdict.metrics, verdict.findings, verdict.decision
    seen = metrics.evidence
    left, trend = seen.remaining, seen.trend
    coherent, unsure = seen.coherence_parts, seen.uncertainty_parts
    until = max(0, metrics.checkpoint_interval - seen.since_checkpoint)
    found = to_jcs([each.to_json() for each in findings]) if findings else "[]"
    cost = left.cost_micros
    money = "null" if cost is None else f'"{format_usd(max(0, cost))}"'
    slope = "0\x1efalse"
    if trend is not None:
        slope = f"{_write_share(trend.slope)}\x1e{_WORDS[trend.significant]}"
    coherence_parts = uncertainty_parts = "null"
    if coherent is not None:
        coherence_parts = (
            f"{_write_share(coherent.drift)},{_write_share(coherent.rework)},"
            f"{_write_share(coherent.violations)}"
        )
    if unsure is not None:
        uncertainty_parts = (
            f"{_write_share(unsure.confidence)},{_write_share(unsure.failed_calls)},"
            f"{_write_share(unsure.repeated)}"
        )
    unjudged = ",".join(map(encode_basestring, metrics.not_evaluated))
    action = _GO_ON
    if decision != "continue":
        action = encode_basestring(verdict.recommended_action)
    return (
        f'{_WORDS[until == 0]}\x1e"{decision}"\x1e{verdict.delay_ms}\x1e{found}\x1e'
        f"{money}\x1e{_write_rest(left.time_ms)}\x1e{_write_rest(left.tokens)}\x1e"
        f"{_write_rest(left.tool_calls)}\x1e{slope}\x1e"
        f"{_write_share(seen.coherence)}\x1e{_write_share(seen.coherence_computed)}\x1e"
        f"{_LEVELS[get_coherence_level(seen.coherence)]}\x1e{coherence_parts}\x1e"
        f'{_write_share(seen.coherence_reported)}\x1e"{seen.coherence_source}"\x1e'
        f"{unjudged}\x1e"
        f"{_write_share(seen.rework_ratio)}\x1e{_write_share(seen.rework_ratio_total)}\x1e"
        f"{seen.since_checkpoint}\x1e{until}\x1e"
        f"{_write_share(seen.uncertainty)}\x1e{_write_share(seen.uncertainty_computed)}\x1e"
        f"{_LEVELS[get_uncertainty_level(seen.uncertainty)]}\x1e{uncertainty_parts}\x1e"
        f'{_write_share(seen.uncertainty_reported)}\x1e"{seen.uncertainty_source}"\x1e'
        f"{action}"
    )


def _write_rest(amount: int | None) -> str:
    """Never below zero: by how much a part is overdrawn is the finding's to tell."""
    return "null" if amount is None else str(max(0, amount))


def _write_count(amount: int | None) -> str:
    return "null" if amount is None else str(amount)


def _write_text(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)
