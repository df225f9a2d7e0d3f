"""Secrets that a manager has said are none: the finding stays, and blocks no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import FINDINGS_LIMIT, CallVerdict
from guidance.core.vocabulary import choose_most_severe_call


@dataclass(frozen=True, slots=True, kw_only=True)
class Exempted:
    """Who said so, and where that is written down."""

    code: str
    by: str


def list_blocking_fingerprints(findings: Iterable[CallFinding]) -> frozenset[str]:
    """Of the secrets for which a call is blocked."""
    return frozenset(
        finding.details["fingerprint"]
        for finding in findings
        if finding.gate == "secrets"
        and finding.decision == "block"
        and finding.details.get("fingerprint")
    )


def apply_exemptions(
    verdict: CallVerdict, exempted: Mapping[str, Exempted]
) -> CallVerdict:
    """By fingerprint. Where there is more than was told, nothing is exempted."""
    if not exempted or len(verdict.findings) >= FINDINGS_LIMIT:
        return verdict
    findings = tuple(
        _apply_exemption(finding, exempted) for finding in verdict.findings
    )
    decision = choose_most_severe_call(finding.decision for finding in findings)
    return replace(verdict, findings=findings, decision=decision)


def copy_exemptions(verdict: CallVerdict, known: CallVerdict) -> CallVerdict | None:
    """What is known of the secrets in a call, also for a verdict on it by other rules;
    None where that has found one of which nothing is known."""
    told = {
        finding.details["fingerprint"]: finding
        for finding in known.findings
        if finding.gate == "secrets" and finding.details.get("fingerprint")
    }
    blocking = list_blocking_fingerprints(verdict.findings)
    if not blocking <= told.keys():
        return None
    findings = tuple(
        told[finding.details["fingerprint"]]
        if finding.gate == "secrets" and finding.details.get("fingerprint") in blocking
        else finding
        for finding in verdict.findings
    )
    decision = choose_most_severe_call(finding.decision for finding in findings)
    return replace(verdict, findings=findings, decision=decision)


def _apply_exemption(
    finding: CallFinding, exempted: Mapping[str, Exempted]
) -> CallFinding:
    known = exempted.get(finding.details.get("fingerprint") or "")
    if finding.gate != "secrets" or finding.decision != "block" or known is None:
        return finding
    details = {**finding.details, "exemption": known.code}
    return replace(
        finding,
        decision="allow",
        message=f"{details['redacted']} is not a secret, says {known.by}",
        remediation=None,
        details=details,
    )
