"""How much of what was changed is rework. Only the agent knows its rework; of the lines
that changed, the lower figure of the two counts."""

from __future__ import annotations

from guidance.core.number_format import format_percent
from guidance.core.outcomes.evaluation import Evaluation, choose_source, make_unknown
from guidance.core.outcomes.facts import OutcomeFacts
from guidance.core.outcomes.section import Evaluators

NAME = "diff-quality"


def judge_diff(rules: Evaluators, facts: OutcomeFacts) -> Evaluation:
    limit = rules.diff_quality.max_rework_ratio
    seen, reported = facts.seen.lines_changed, facts.report.lines_changed
    rework = facts.report.rework_lines
    if rework is None and reported is not None:
        rework = 0
    if rework is None:
        if seen:
            return make_unknown(NAME, f"{seen:,} lines changed, rework is not known")
        return make_unknown(NAME, "Nothing is known about changes")
    known = [lines for lines in (seen, reported) if lines]
    details = {"seen": seen, "reported": reported, "rework": rework, "limit": limit}
    source = choose_source(seen=seen > 0, reported=True)
    if not known:
        if rework == 0:
            return make_unknown(NAME, "No line was changed")
        message = f"{rework:,} lines of rework and no change"
        ratio, passed = 1.0, False
    else:
        ratio = rework / min(known)
        passed = ratio <= limit
        message = (
            f"{format_percent(ratio)} of {min(known):,} changed lines are rework, "
            f"limit {format_percent(limit)}"
        )
    return Evaluation(
        name=NAME,
        passed=passed,
        score=max(0.0, 1 - ratio),
        source=source,
        message=message,
        details=details,
    )
