"""Look through a policy's history, and store what it suggests."""

from __future__ import annotations

import json
from typing import Any

from guidance.core.suggestions.trade_off import (
    APPROVED,
    COMPLETED,
    STOPPED,
    TradeOff,
)
from guidance.models import PolicyVersion
from guidance.selectors import get_policy
from ledger.backtest.history import select_runs
from ledger.jobs.perform import Signs, give_way, perform_next_job
from ledger.models import Run
from ledger.selectors import exclude_system_runs
from reviews.models import SuggestionSearch
from reviews.policies.backtest.selection import count_entries
from reviews.policies.suggestions.history import LimitSearch, read_history
from reviews.policies.suggestions.rules import list_rule_suggestions
from reviews.queue.rule_counts import count_rules

# So many stretches of runs are named with a suggestion.
EXAMPLES = 12


def perform_next_search() -> bool:
    """Do the next search that waits, or whose worker is gone; False if there is none."""
    return perform_next_job(SuggestionSearch.objects.all(), _search)


def _search(search: SuggestionSearch, signs: Signs) -> None:
    row = PolicyVersion.objects.get(
        project_id=search.project_id, name=search.policy, version=search.version
    )
    found = LimitSearch(policy=get_policy(row.pk), project_id=search.project_id)
    runs = exclude_system_runs(
        Run.objects.filter(project_id=search.project_id, policy__name=search.policy)
    )
    runs = select_runs(runs, since=search.since, until=search.until)
    signs.set_total(count_entries(runs))
    done = 0
    pages = read_history(found, runs, since=search.since, until=search.until)
    for entries in give_way(pages):
        done += entries
        signs.give(done, dict)
    policy = found.policy.policy
    counts = count_rules(
        project_id=search.project_id,
        days=(search.until - search.since).days,
        at=search.until,
        policy=search.policy,
    )
    signs.finish(
        done,
        {
            "steps": found.steps,
            "runs": found.runs,
            "other": found.other,
            "counted_all": found.counted_all and counts.counted_all,
            "limits": [build_limit(each) for each in found.trade_offs],
            "rules": [*list_rule_suggestions(policy, json.loads(row.document), counts)],
        },
    )


def build_limit(trade_off: TradeOff) -> dict[str, Any]:
    """All that its chart shows, and the value to suggest if there is one."""
    limit, points = trade_off.limit, trade_off.list_points()
    best = trade_off.find_best()
    return {
        "setting": limit.setting,
        "gate": limit.gate,
        "decision": limit.decision,
        "today": limit.write_value(trade_off.values[trade_off.today]),
        "suggested": None
        if best is None
        else limit.write_value(trade_off.values[best]),
        "enough": trade_off.has_enough(),
        **{each: trade_off.count(each) for each in (STOPPED, APPROVED, COMPLETED)},
        "steps": sum(trade_off.steps),
        "decisions_changed": 0 if best is None else trade_off.count_changed_steps(best),
        "points": [
            {**point._asdict(), "value": limit.write_value(point.value)}
            for point in points
        ],
        "examples": [] if best is None else _list_examples(trade_off, best),
    }


def _list_examples(trade_off: TradeOff, best: int) -> list[dict[str, Any]]:
    """Those first that people ended."""
    cases = sorted(
        trade_off.list_changed_cases(best), key=lambda case: case.outcome != STOPPED
    )[:EXAMPLES]
    runs = Run.objects.filter(pk__in={case.run_id for case in cases})
    codes = dict(runs.values_list("pk", "code"))
    return [
        {
            "run": str(codes[case.run_id]),
            "outcome": case.outcome,
            "value": trade_off.limit.write_value(case.value),
        }
        for case in cases
    ]
