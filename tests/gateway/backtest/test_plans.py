"""A draft tried over a run that followed a plan: the person who approved it has answered."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from tests.gateway.backtest.trying import judge_again, list_moves
from tests.gateway.calls.calls import command
from tests.gateway.plans.planning import approve, bash, build_plan, build_step
from tests.support.builders import start_run

SAME = ["allow", "allow", "require-confirmation", "allow"]


@pytest.mark.parametrize(
    ("draft", "decisions"),
    [
        ({}, SAME),
        # It need not be judged again where nothing of calls is touched.
        ({"continue": {"max_uncertainty": 0.2}}, SAME),
        # By the plan as it stood, also where the draft judges anew.
        ({"tools": {"max_diff_lines": 7}}, SAME),
        ({"tools": {"rules": {"delete-folder": "block"}}}, ["block"] * 3 + ["allow"]),
        ({"tools": {"rules": {"delete-folder": "allow"}}}, ["allow"] * 4),
        # Only the very call of the plan, which is the first one.
        (
            {"reviews": {"severity": {"rules": {"delete-folder": "critical"}}}},
            ["allow", "require-confirmation", "require-confirmation", "allow"],
        ),
        (
            {"tools": {"always_ask": ["delete-folder"]}},
            ["allow", "require-confirmation", "require-confirmation", "allow"],
        ),
    ],
)
def test_a_draft_is_tried_on_the_plan_that_stood(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    draft: dict[str, Any],
    decisions: list[str],
) -> None:
    run = start_run(agent)
    planned = build_step(bash("rm -rf build-1", shape="shape", count=3))
    approve(agent, reviewer, run, build_plan(planned))
    for text in ("rm -rf build-1", "rm -rf build-2", "rm -rf other", "ls"):
        command(agent, run, text)

    moves = list_moves(judge_again(project, draft))

    assert [before for _, before, _ in moves] == SAME
    assert [after for _, _, after in moves] == decisions
