"""Words for quality gates."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words

GATES = {
    "gates": Words("Quality gates", "What a gate check may name, by id."),
    "gates.*.severity": Words(
        "Severity",
        "Gives the mode where none is said: critical blocks, high and medium advise, "
        "low informs.",
    ),
    "gates.*.name": Words("Name", "What people read; the id where left out."),
    "gates.*.description": Words("Description", "What the gate is for."),
    "gates.*.mode": Words("Mode", "What a FAIL does."),
    "gates.*.criteria": Words("Criteria", "What work has to meet."),
    "gates.*.criteria.*.text": Words("Text", "The criterion, in one line."),
    "gates.*.criteria.*.verifier": Words("Verifier", "Who says that it is met."),
    "gates.*.criteria.*.command": Words(
        "Command", "What is run where the verifier is a command."
    ),
    "gates.*.guidance": Words("Guidance", "How to judge, for whoever does."),
    "gates.*.retry": Words("Attempts", "How often work may be tried again."),
    "gates.*.retry.max_attempts": Words(
        "Attempts", "After so many a person decides.", "times"
    ),
    "gates.*.retry.improvement_hints": Words(
        "Hints", "Whether the next attempt is told what to look at again."
    ),
    "gates.*.retry.preserve_context": Words(
        "Context", "Whether the next attempt is told what was said about the last."
    ),
}
