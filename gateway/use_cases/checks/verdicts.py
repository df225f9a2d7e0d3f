"""A verdict as it arrives: structured or as text, and one reading only."""

from __future__ import annotations

from dataclasses import replace

from common.errors import Invalid
from gateway.schemas.checks import VerdictIn
from guidance.core.checks import (
    CombinedGates,
    Verdict,
    VerdictProblem,
    read_verdict_body,
    read_verdict_text,
)
from guidance.redactor import clean

STRUCTURED = ("overall", "rationale", "per_gate")


def parse_verdict(body: VerdictIn, *, gates: CombinedGates) -> Verdict:
    count = len(gates.gates)
    given = {
        name: value for name in STRUCTURED if (value := getattr(body, name)) is not None
    }
    if body.text is not None and given:
        raise Invalid(
            "Send a verdict as text or as an object, not both.",
            errors=[{"loc": ["text"], "message": "not beside overall"}],
        )
    if body.text is not None:
        return require_valid_verdict(
            read_verdict_text(body.text, gates=count, bare=True)
        )
    return require_valid_verdict(read_verdict_body(given, gates=count))


def require_valid_verdict(read: Verdict | VerdictProblem) -> Verdict:
    """The verdict, or a refusal that shows the accepted forms."""
    if isinstance(read, Verdict):
        return _redact_verdict(read)
    raise Invalid(
        f"This is no verdict. {read.message}.",
        errors=[{"loc": path.split("."), "message": why} for path, why in read.errors],
        accepted_forms=list(read.forms),
    )


def _redact_verdict(verdict: Verdict) -> Verdict:
    """After the reading: a label for a secret must not cover a FAIL that was read."""
    return replace(
        verdict,
        rationale=clean(verdict.rationale),
        per_gate=tuple(
            replace(entry, rationale=clean(entry.rationale))
            for entry in verdict.per_gate
        ),
    )
