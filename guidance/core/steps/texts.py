"""Reports and verdicts as texts, by RFC 8785: byte for byte what their documents are written
as, without building these, which takes three times as long (bench steps)."""

from __future__ import annotations

from json.encoder import encode_basestring

from guidance.core.jcs import to_jcs, write_number
from guidance.core.money import format_usd
from guidance.core.runs.facts import StepReport
from guidance.core.steps.judge_step import ContinueVerdict
from guidance.core.steps.metrics import Metrics
from guidance.core.steps.scores import CoherenceParts, UncertaintyParts

_WORDS = {True: "true", False: "false"}


def write_report(report: StepReport) -> str:
    confidences = ",".join(map(write_number, report.confidences))
    return (
        f'{{"checkpoint":{_WORDS[report.checkpoint]},'
        f'"coherence":{write_number(report.coherence)},'
        f'"confidences":[{confidences}],'
        f'"cost_micros":{report.cost_micros},'
        f'"duration_ms":{report.duration_ms},'
        f'"failed_calls":{write_number(report.failed_calls)},'
        f'"intent":{_write_text(report.intent)},'
        f'"number":{report.number},'
        f'"rework":{_WORDS[report.rework]},'
        f'"signature":{_write_text(report.signature)},'
        f'"summary":{encode_basestring(report.summary)},'
        f'"tokens":{report.tokens},'
        f'"tool_calls":{report.tool_calls},'
        f'"uncertainty":{write_number(report.uncertainty)}}}'
    )


def write_verdict_fields(verdict: ContinueVerdict) -> dict[str, str]:
    """Each field of it by name, in their order."""
    findings = [finding.to_json() for finding in verdict.findings]
    return {
        "checkpoint_due": _WORDS[verdict.checkpoint_due],
        "decision": encode_basestring(verdict.decision),
        "delay_ms": str(verdict.delay_ms),
        "findings": to_jcs(findings) if findings else "[]",
        "metrics": write_metrics(verdict.metrics),
        "recommended_action": encode_basestring(verdict.recommended_action),
    }


def write_metrics(metrics: Metrics) -> str:
    seen, left = metrics.evidence, metrics.budget_remaining
    cost = "null" if left.cost_micros is None else f'"{format_usd(left.cost_micros)}"'
    unjudged = ",".join(map(encode_basestring, metrics.not_evaluated))
    return (
        f'{{"budget_remaining":{{"cost_usd":{cost},'
        f'"time_ms":{write_number(left.time_ms)},'
        f'"tokens":{write_number(left.tokens)},'
        f'"tool_calls":{write_number(left.tool_calls)}}},'
        f'"budget_slope":{write_number(metrics.budget_slope)},'
        f'"budget_slope_significant":{_WORDS[metrics.budget_slope_significant]},'
        f'"coherence":{write_number(seen.coherence)},'
        f'"coherence_computed":{write_number(seen.coherence_computed)},'
        f'"coherence_level":{_write_text(metrics.coherence_level)},'
        f'"coherence_parts":{_write_coherence(seen.coherence_parts)},'
        f'"coherence_reported":{write_number(seen.coherence_reported)},'
        f'"coherence_source":"{seen.coherence_source}",'
        f'"not_evaluated":[{unjudged}],'
        f'"rework_ratio":{write_number(seen.rework_ratio)},'
        f'"rework_ratio_total":{write_number(seen.rework_ratio_total)},'
        f'"steps_since_checkpoint":{seen.since_checkpoint},'
        f'"steps_until_checkpoint":{metrics.steps_until_checkpoint},'
        f'"uncertainty":{write_number(seen.uncertainty)},'
        f'"uncertainty_computed":{write_number(seen.uncertainty_computed)},'
        f'"uncertainty_level":{_write_text(metrics.uncertainty_level)},'
        f'"uncertainty_parts":{_write_uncertainty(seen.uncertainty_parts)},'
        f'"uncertainty_reported":{write_number(seen.uncertainty_reported)},'
        f'"uncertainty_source":"{seen.uncertainty_source}"}}'
    )


def _write_coherence(parts: CoherenceParts | None) -> str:
    if parts is None:
        return "null"
    return (
        f'{{"drift":{write_number(parts.drift)},"rework":{write_number(parts.rework)},'
        f'"violations":{write_number(parts.violations)}}}'
    )


def _write_uncertainty(parts: UncertaintyParts | None) -> str:
    if parts is None:
        return "null"
    return (
        f'{{"confidence":{write_number(parts.confidence)},'
        f'"failed_calls":{write_number(parts.failed_calls)},'
        f'"repeated":{write_number(parts.repeated)}}}'
    )


def _write_text(text: str | None) -> str:
    return "null" if text is None else encode_basestring(text)
