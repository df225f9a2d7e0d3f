"""Quality gates put to a step: their definitions, verdicts, attempts and prompts."""

from __future__ import annotations

from guidance.core.checks.attempts import (
    MAX_RESETS,
    CheckState,
    Event,
    NotOffered,
    Outcome,
    open_check,
    rule,
    take_verdict,
)
from guidance.core.checks.combined_gates import CombinedGates, choose_gates, combine
from guidance.core.checks.definition_reader import Refused, read_gate, read_gates
from guidance.core.checks.definitions import (
    MODES,
    SEVERITIES,
    Criterion,
    GateDefinition,
    Retry,
    gates_to_json,
)
from guidance.core.checks.evidence import (
    CommandEvidence,
    Evidence,
    JudgeEvidence,
    read_evidence,
    unproven,
)
from guidance.core.checks.prompts import (
    exhaustion_text,
    exhaustion_title,
    previous_feedback,
    prompt_text,
)
from guidance.core.checks.verdict_reader import read_text
from guidance.core.checks.verdicts import (
    FORMS,
    GateVerdict,
    Verdict,
    VerdictProblem,
    read_body,
    render,
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
    "choose_gates",
    "combine",
    "exhaustion_text",
    "exhaustion_title",
    "gates_to_json",
    "open_check",
    "previous_feedback",
    "prompt_text",
    "read_body",
    "read_evidence",
    "read_gate",
    "read_gates",
    "read_text",
    "render",
    "rule",
    "take_verdict",
    "unproven",
]
