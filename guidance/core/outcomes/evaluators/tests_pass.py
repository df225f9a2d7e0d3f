"""Whether the tests pass: the worst of what was seen and what is reported counts."""

from __future__ import annotations

from guidance.core.outcomes.evaluation import Evaluation, choose_source, make_unknown
from guidance.core.outcomes.facts import OutcomeFacts, ReportedTests, Seen
from guidance.core.outcomes.section import Evaluators

NAME = "tests-pass"


def judge_tests(_rules: Evaluators, facts: OutcomeFacts) -> Evaluation:
    seen = _read_seen(facts.seen)
    reported = _read_report(facts.report.tests)
    if not seen and reported is None:
        return make_unknown(NAME, "Nothing is known about tests")
    said = [*seen, *([reported] if reported else [])]
    score, message = min(said, key=lambda each: each[0])
    return Evaluation(
        name=NAME,
        passed=all(each[0] == 1.0 for each in said),
        score=score,
        source=choose_source(seen=bool(seen), reported=reported is not None),
        message=message,
        details={"said": [each[1] for each in said]},
    )


def _read_seen(seen: Seen) -> list[tuple[float, str]]:
    """A result that came before the last edit, or was piped away, says nothing."""
    said = []
    if seen.tests is not None and seen.tests.ok is not None:
        ended = "passed" if seen.tests.ok else "failed"
        score = float(seen.tests.ok)
        said.append((score, f"The last test run {ended}: {seen.tests.text}"))
    if seen.test_gate is not None:
        ended = "passed" if seen.test_gate else "did not pass"
        said.append((float(seen.test_gate), f"The gate about tests {ended}"))
    return said


def _read_report(tests: ReportedTests | None) -> tuple[float, str] | None:
    """Tests that were skipped prove nothing, neither way."""
    if tests is None:
        return None
    judged = tests.passed + tests.failed
    if not tests.ran or judged == 0:
        return 0.0, "The agent says that no test ran"
    return (
        tests.passed / judged,
        f"{tests.passed:,} of {judged:,} tests passed, the agent says",
    )
