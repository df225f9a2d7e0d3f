"""manage.py backtest: the result as sentences, a table, or JSON."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import Project
from reviews.models import Backtest
from reviews.policies.backtest.counts import Counts
from reviews.policies.backtest.sentences import describe_result
from tests.gateway.calls.calls import command, rule
from tests.reviews.policies.trials import run as run_over_api
from tests.support.builders import make_policy, start_run, step

pytestmark = pytest.mark.once(
    "words of a command; its SQL is repeated in test_backtests"
)

DRAFT = """\
continue:
  max_uncertainty: 0.2
tools:
  rules:
    git-push-force: warn
"""


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    path = tmp_path / "draft.yaml"
    path.write_text(DRAFT)
    return path


@pytest.fixture
def history(agent: httpx.Client, reviewer: httpx.Client) -> str:
    run = start_run(agent)
    for number, uncertainty in ((1, 0.1), (2, 0.3), (3, 0.4)):
        agent.post(f"/runs/{run}/steps", json=step(number, uncertainty=uncertainty))
    for action in ("approve", "deny"):
        rule(reviewer, command(agent, run, "git push --force"), action)
    reviewer.post(f"/runs/{run}/abort", json={"reason": "enough"})
    return run


def backtest(file: Path, project: Project, **options: Any) -> str:
    out = StringIO()
    call_command("backtest", str(file), project=project.slug, stdout=out, **options)
    return out.getvalue()


def test_the_sentence_is_the_result(
    draft: Path, project: Project, history: str
) -> None:
    assert backtest(draft, project) == (
        "4 of 5 decisions would come out differently, in 1 run.\n"
        "It asks people in 1 more run, 2 cases, "
        "2 of them in runs that a person later aborted.\n"
        "It no longer asks in 2 cases; of those people approved 1, denied 1.\n"
        "People's rulings agree with 3 of the changes, disagree with 1, and say nothing "
        "about 0.\n"
        "\n"
        "move                       decisions\n"
        "continue→pause             2\n"
        "require-confirmation→warn  2\n"
        "\n"
        "gate         rule            softer  stricter\n"
        "destructive  git-push-force  2       0\n"
        "uncertainty                  0       2\n"
    )
    assert not Backtest.objects.filter(project=project).exists()


def test_json_says_what_the_api_says(
    draft: Path, project: Project, history: str, manager: httpx.Client
) -> None:
    found = json.loads(backtest(draft, project, json=True))
    over_api = run_over_api(manager, yaml=DRAFT)
    assert found == {name: over_api[name] for name in found}
    assert found["changed"] == 4


def test_it_judges_only_what_it_is_told_to(
    draft: Path, project: Project, history: str, agent: httpx.Client
) -> None:
    make_policy("other", project=project)
    other = start_run(agent, policy="other")
    agent.post(f"/runs/{other}/steps", json=step(1))

    def count(**options: Any) -> int:
        judged: int = json.loads(backtest(draft, project, json=True, **options))[
            "judged"
        ]
        return judged

    assert count() == 6
    assert count(run=other) == count(policy="other") == 1
    assert count(limit=2) == 2
    assert count(agent="robo") == 6
    with pytest.raises(CommandError, match="no agent of this project"):
        count(agent="nobody")
    with pytest.raises(CommandError, match="no such run"):
        count(run="7")


def test_times_are_days_or_moments(draft: Path, project: Project, history: str) -> None:
    out = StringIO()
    more = ["--project", project.slug, "--json"]
    call_command("backtest", str(draft), "--since", "2020-01-01", *more, stdout=out)
    assert json.loads(out.getvalue())["judged"] == 5
    out = StringIO()
    call_command(
        "backtest", str(draft), "--until", "2020-01-01T08:00Z", *more, stdout=out
    )
    assert json.loads(out.getvalue())["judged"] == 0


def test_every_fault_of_the_draft_is_named_with_its_place(
    tmp_path: Path, project: Project
) -> None:
    path = tmp_path / "draft.yaml"
    path.write_text("continue:\n  max_uncertainty: 7\n  unheard: 1\n")
    with pytest.raises(CommandError) as refused:
        backtest(path, project)
    first, second, third = str(refused.value).splitlines()
    assert first == "The draft is no policy:"
    assert second.startswith("  draft.yaml:2:3: continue.max_uncertainty: ")
    assert third.startswith("  draft.yaml:3:3: continue.unheard: ")
    with pytest.raises(CommandError, match="cannot be read"):
        backtest(tmp_path / "absent.yaml", project)


def test_a_project_is_named_where_there_are_several(
    draft: Path, project: Project
) -> None:
    with pytest.raises(CommandError, match="no such project"):
        call_command("backtest", str(draft), project="nowhere")


def test_what_does_not_change_is_said_in_one_sentence() -> None:
    nothing = Counts().to_json()
    assert describe_result(nothing) == ["No stored decision could be judged."]
    unknown = {"unknown": 3, "unknown_reasons": {"a secret": 2, "a gap": 1}}
    assert describe_result(nothing | {"judged": 1} | unknown) == [
        "Nothing changes: 1 decision as before.",
        "3 cannot be judged: a secret (2), a gap (1).",
    ]
