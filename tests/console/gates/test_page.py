"""The page of gates: what each asks, what came of it, and its price."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.charts import draw_outcome_bars
from reviews.models import GateCheck
from reviews.queue import gate_counts
from tests.gateway.calls.calls import rule
from tests.gateway.checks.saying import exhaust, judge, open_check
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

GATES = {
    "tests-pass": {
        "name": "Test suite",
        "severity": "critical",
        "criteria": ["New code has a test"],
        "guidance": "Run it now.",
    },
    "style": {"name": "Style", "severity": "high", "criteria": ["The linter is quiet"]},
    "notes": {"name": "Notes", "severity": "low"},
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("default", project=project, gates=GATES)
    return start_run(agent)


def read(person: Person, project: Project, **query: str) -> str:
    page = open_browser(person.user).get(f"/p/{project.slug}/gates/", query)
    assert page.status_code == 200
    return page.content.decode()


def row(page: str, slug: str) -> list[str]:
    """The cells of a gate as a reader has them."""
    start = page.index(f'id="gate-{slug}"')
    cells = re.findall(
        r"<t[hd].*?</t[hd]>", page[start : page.index("</tr>", start)], re.S
    )
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in cells]


def test_without_any_check_it_says_how_one_comes_to_be(
    project: Project, alice: Person
) -> None:
    page = read(alice, project)
    assert "No gate was checked in the last 30 days" in page
    assert "gate-checks" in page
    assert "Test suite" in page  # of the policy that ships
    assert "No checks in this period" in page


def test_a_row_has_the_definition_and_the_figures(
    agent: httpx.Client,
    reviewer: httpx.Client,
    project: Project,
    alice: Person,
    run: str,
) -> None:
    judge(agent, run, open_check(agent, run, "tests-pass"), "PASS - green")
    check = open_check(agent, run, "tests-pass")
    judge(agent, run, check)
    judge(agent, run, check, "PASS - green")
    _, told = exhaust(agent, run, "tests-pass")
    rule(reviewer, told, "skip", note="Known flake")
    judge(agent, run, open_check(agent, run, "style"))
    page = read(alice, project)
    head, passed, *figures = row(page, "tests-pass")
    assert "critical blocking" in head
    assert "New code has a test" in head
    assert "Run it now." in head
    assert passed == "2 of 3"  # too few for a share
    assert figures == ["3", "2", "1.7", "1", "1"]
    assert row(page, "style")[1:] == ["0 of 1", "1", "1", "1.0", "0", "0"]
    assert row(page, "notes")[1] == "No checks in this period"
    assert page.index("gate-tests-pass") < page.index("gate-style")
    assert "2 passed, 1 not passed in the last 30 days" in page


def test_a_share_is_given_once_there_is_something_to_share(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    for _ in range(4):
        judge(agent, run, open_check(agent, run, "style"), "PASS - quiet")
    judge(agent, run, open_check(agent, run, "style"))
    assert row(read(alice, project), "style")[1] == "80 % 4 of 5"


def test_a_gate_is_not_held_against_what_another_failed(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    check = open_check(agent, run, "style", "notes")
    entries = [
        {"index": 1, "passed": False, "rationale": "loud"},
        {"index": 2, "passed": True, "rationale": "kept"},
    ]
    judge(agent, run, check, overall="FAIL", rationale="loud", per_gate=entries)
    page = read(alice, project)
    assert row(page, "style")[1:4] == ["0 of 1", "1", "1"]
    assert row(page, "notes")[1:4] == ["none ended yet", "1", "0"]


def test_gates_of_others_are_listed_below(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    odd = "<script>own</script>\u202e"
    own = {"id": "own", "name": odd, "mode": "informational", "criteria": ["Be kind"]}
    judge(agent, run, open_check(agent, run, inline=[own]))
    page = read(alice, project)
    assert page.index("Other gates<") < page.index("gate-own")
    assert "<script>own" not in page
    assert "\u202e" not in page


def test_a_period_leaves_out_what_is_older(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    judge(agent, run, open_check(agent, run, "style"))
    old = timezone.now() - timedelta(days=20)
    GateCheck.objects.filter(project=project).update(opened_at=old)
    assert row(read(alice, project), "style")[2] == "1"
    assert row(read(alice, project, days="90"), "style")[2] == "1"
    week = read(alice, project, days="7")
    assert row(week, "style")[1] == "No checks in this period"
    assert 'href="?days=7" aria-current="true"' in week
    assert 'href="?days=30" aria-current="true"' in read(alice, project, days="1e9")


def test_it_costs_the_same_with_many_checks(
    agent: httpx.Client, project: Project, alice: Person, run: str
) -> None:
    client, path = open_browser(alice.user), f"/p/{project.slug}/gates/"

    def queries() -> int:
        client.get(path)
        with CaptureQueriesContext(connection) as captured:
            client.get(path)
        return len(captured)

    judge(agent, run, open_check(agent, run, "style"))
    few = queries()
    for _ in range(15):
        judge(agent, run, open_check(agent, run, "tests-pass"), "PASS - green")
    assert queries() == few <= 12


def test_it_says_when_not_all_are_counted(
    agent: httpx.Client,
    project: Project,
    alice: Person,
    run: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gate_counts, "CHECKS_LIMIT", 2)
    for _ in range(3):
        judge(agent, run, open_check(agent, run, "style"))
    page = read(alice, project)
    assert "There were more checks in these 30 days" in page
    assert row(page, "style")[2] == "2"


def test_only_members_see_it(project: Project, charlie: Person) -> None:
    page = open_browser(charlie.user).get(f"/p/{project.slug}/gates/")
    assert page.status_code == 404


def test_bars_of_nothing_and_of_something() -> None:
    assert "f-go" not in draw_outcome_bars([(0, 0)], label="none")
    drawn = draw_outcome_bars([(3, 1), (0, 0)], label="3 passed")
    assert drawn.count("<rect") == 3
    assert 'aria-label="3 passed"' in drawn
