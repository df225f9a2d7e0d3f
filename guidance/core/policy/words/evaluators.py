"""Words for what judges a run when it finishes."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words

_NAMES = {
    "tests_pass": Words("Tests pass", "Whether the tests passed at the end."),
    "diff_quality": Words("Diff quality", "How much of the change is rework."),
    "violation_rate": Words("Violation rate", "How many rules were broken."),
    "forbidden_commands": Words("Forbidden commands", "Commands that must not run."),
    "forbidden_dependencies": Words(
        "Forbidden dependencies", "Packages that must not be added."
    ),
}

EVALUATORS = {
    "evaluators": Words("Evaluators", "What judges a run when it finishes."),
    **{f"evaluators.{name}": words for name, words in _NAMES.items()},
    **{
        f"evaluators.{name}.fails_run": Words(
            "Fails the run", "Whether a run that does not pass ends as failed."
        )
        for name in _NAMES
    },
    "evaluators.tests_pass.gates": Words(
        "Gates about tests", "Quality gates whose verdict speaks about tests."
    ),
    "evaluators.diff_quality.max_rework_ratio": Words(
        "Rework limit", "A larger share of the changed lines does not pass.", "share"
    ),
    "evaluators.violation_rate.max_rate": Words(
        "Weight limit",
        "Of violations for ten steps and calls: critical 2, high 1, medium 0.5, low 0.25; "
        "half for what was corrected or approved.",
    ),
    "evaluators.forbidden_commands.commands": Words(
        "Commands",
        "Must not run even where a person approves, such as git push --force.",
    ),
    "evaluators.forbidden_dependencies.allow": Words(
        "Allowed", "Names, or their beginning and a star; an empty list allows all."
    ),
    "evaluators.forbidden_dependencies.deny": Words(
        "Denied", "Names, or their beginning and a star, such as npm:left-pad."
    ),
}
