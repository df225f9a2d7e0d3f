"""How a backtest judges what agents did: steps, calls, gate checks and turns.

What the same rules have judged by the same version of the gates comes out as it did, and
is not judged twice. What an older version has judged is judged by today's gates under both
policies, so that only what the policy changes counts.
"""

from __future__ import annotations

from functools import partial

from gateway.backtest.calls import CALL, describe_call, judge_call_again
from gateway.backtest.checks import (
    CHECK,
    describe_check,
    get_check_stamp,
    judge_check_again,
    note_check,
)
from gateway.backtest.steps import (
    STEP,
    describe_step,
    judge_step_again,
    read_step_figures,
)
from gateway.backtest.turns import TURN, describe_turn, judge_turn_again
from gateway.transitions import apply_counted_step
from guidance.core.runs.memory import TRACE_LIMIT
from ledger.backtest.figures import register_figures
from ledger.backtest.judges import register_judge, register_note


def register_judges() -> None:
    register_judge(
        "step.judged",
        kind=STEP,
        judge=judge_step_again,
        describe=describe_step,
        # All that any policy can look back at.
        apply=partial(apply_counted_step, kept=TRACE_LIMIT),
    )
    register_figures("step.judged", read_step_figures)
    for name in ("call.judged", "call.replayed"):
        register_judge(name, kind=CALL, judge=judge_call_again, describe=describe_call)
    register_judge(
        "turn.judged", kind=TURN, judge=judge_turn_again, describe=describe_turn
    )
    register_note("check.opened", note_check)
    register_judge(
        "check.judged",
        kind=CHECK,
        judge=judge_check_again,
        describe=describe_check,
        get_stamp=get_check_stamp,
    )
