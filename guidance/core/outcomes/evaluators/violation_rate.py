"""How many rules were broken for the work done, each by its severity."""

from __future__ import annotations

from guidance.core.outcomes.evaluation import Evaluation, choose_source, make_unknown
from guidance.core.outcomes.facts import NAMED_LIMIT, OutcomeFacts, SeverityCount
from guidance.core.outcomes.section import Evaluators
from guidance.core.outcomes.severity import SEVERITIES, compute_weight

NAME = "violation-rate"
# The rate is for so many steps and calls; shorter runs count as that long.
PER = 10


def judge_violations(rules: Evaluators, facts: OutcomeFacts) -> Evaluation:
    seen, report = facts.seen, facts.report
    work = seen.steps + seen.calls
    said = (*seen.recorded, *(report.violations or ()))
    reported = bool(said) or report.violations is not None
    if not work and not reported:
        return make_unknown(NAME, "Nothing is known about violations")
    limit = rules.violation_rate.max_rate
    every = (*seen.found, *said)
    weight = sum(
        compute_weight(
            each.severity, count=each.count, halved=each.halved, excused=each.excused
        )
        for each in every
    )
    count = sum(each.count for each in every)
    rate = weight * PER / max(PER, work)
    passed = rate <= limit
    return Evaluation(
        name=NAME,
        passed=passed,
        score=_compute_score(rate, limit),
        source=choose_source(seen=work > 0, reported=reported),
        message=_describe(count, rate, limit),
        details={
            "rate": round(rate, 4),
            "limit": limit,
            "work": work,
            "severities": _count_severities(every),
            "rules": _list_rules(facts),
        },
    )


def _compute_score(rate: float, limit: float) -> float:
    """1 without any, a half on the limit, 0 from twice the limit on."""
    if rate == 0:
        return 1.0
    return max(0.0, 1 - rate / (2 * limit)) if limit else 0.0


def _describe(count: int, rate: float, limit: float) -> str:
    if not count:
        return "No rule was broken"
    things = "1 violation" if count == 1 else f"{count:,} violations"
    return f"{things}, a weight of {rate:.2f} for ten steps and calls, limit {limit:g}"


def _count_severities(counts: tuple[SeverityCount, ...]) -> dict[str, int]:
    totals = {
        name: sum(each.count for each in counts if each.severity == name)
        for name in SEVERITIES
    }
    return {name: total for name, total in totals.items() if total}


def _list_rules(facts: OutcomeFacts) -> list[str]:
    """Most frequent first, as far as they are named."""
    named = [rule for rule, _ in facts.seen.rules]
    return list(dict.fromkeys([*named, *facts.report.rules]))[:NAMED_LIMIT]
