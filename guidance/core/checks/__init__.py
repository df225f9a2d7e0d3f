"""Quality gates put to a step: their definitions, verdicts, attempts and prompts."""

from __future__ import annotations

from guidance.core.checks.attempts import (
    MAX_RESETS,
    CheckState,
    Event,
    NotOffered,
    Outcome,
    apply_ruling,
    apply_verdict,
    open_check,
)
from guidance.core.checks.combined_gates import CombinedGates, choose_gates, combine
from guidance.core.checks.definition_reader import Refused, read_gate, read_gates
from guidance.core.checks.definitions import (
    MODES,
    SEVERITIES,
    Criterion,
    GateDefinition,
    Retry,
)
from guidance.core.checks.evidence import (
    CommandEvidence,
    Evidence,
    JudgeEvidence,
    list_unproven,
    read_evidence,
)
from guidance.core.checks.prompts import (
    build_exhaustion_text,
    build_exhaustion_title,
    build_previous_feedback,
    build_prompt,
)
from guidance.core.checks.verdict_reader import read_verdict_text
from guidance.core.checks.verdicts import (
    FORMS,
    GateVerdict,
    Verdict,
    VerdictProblem,
    read_verdict_body,
    render_verdict,
)

__all__ = [
    "FORMS",
    "MAX_RESETS",
    "MODES",
    "SEVERITIES",
    "CheckState",
    "CombinedGates",
    "CommandEvidence",
    "Criterion",
    "Event",
    "Evidence",
    "GateDefinition",
    "GateVerdict",
    "JudgeEvidence",
    "NotOffered",
    "Outcome",
    "Refused",
    "Retry",
    "Verdict",
    "VerdictProblem",
    "apply_ruling",
    "apply_verdict",
    "build_exhaustion_text",
    "build_exhaustion_title",
    "build_previous_feedback",
    "build_prompt",
    "choose_gates",
    "combine",
    "list_unproven",
    "open_check",
    "read_evidence",
    "read_gate",
    "read_gates",
    "read_verdict_body",
    "read_verdict_text",
    "render_verdict",
]
