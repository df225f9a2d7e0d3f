"""The pages of a policy's suggestions: why, at which price, and one button to a draft."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.suggestions.chart import HIGH, LOW, WIDTH, build_chart
from guidance.core.policy import load_policy
from guidance.core.suggestions.limits import LIMITS, get_limit
from guidance.core.suggestions.trade_off import Case, TradeOff
from guidance.models import PolicyVersion
from reviews.models import Backtest, SuggestionSearch
from reviews.policies.services import create_version
from reviews.policies.suggestions.perform import build_limit
from reviews.tasks import run_backtests
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

SETTING = "continue.max_rework_ratio"
# Six aborts and fourteen approvals: 0.25 catches all six, and asks twice in vain, as today.
CASES = [
    *[("stopped", each) for each in (0.26, 0.26, 0.28, 0.28, 0.3, 0.6)],
    *[("approved", each) for each in (*[0.1] * 12, 0.35, 0.4)],
]
RULE = {
    "setting": "tools.rules.delete-folder",
    "rule": "delete-folder",
    "gate": "destructive",
    "asked": 22,
    "approved": 20,
    "amended": 0,
    "denied": 0,
    "aborted": 0,
    "expired": 1,
    "waiting": 1,
    "ended": 0,
    "calls": [
        {
            "review": "01900000-0000-7000-8000-000000000000",
            "title": "rm -rf <b>build</b>",
            "answer": "approved",
        }
    ],
}


def count_limit(setting: str, cases: list[tuple[str, float]]) -> dict[str, Any]:
    found = TradeOff.from_policy(get_limit(setting), load_policy({}))
    assert found is not None
    for outcome, value in cases:
        reach = found.get_reach(value)
        found.add_step(reach)
        found.add_case(Case(0, outcome, value), reach)
    # The runs of these cases are not stored.
    found.named.clear()
    return build_limit(found)


def store(
    project: Project,
    *,
    cases: list[tuple[str, float]] = CASES,
    rule: dict[str, Any] = RULE,
    **more: Any,
) -> SuggestionSearch:
    """A search that was done; the others have too little to tell by."""
    version = make_policy("default", project=project)
    limits = [
        count_limit(limit.setting, cases if limit.setting == SETTING else [])
        for limit in LIMITS
    ]
    found = {"limits": limits, "rules": [rule], "runs": 12, "steps": 40, "other": 3}
    at = timezone.now()
    return SuggestionSearch.objects.create(
        project=project,
        policy="default",
        version=version.version,
        since=at - timedelta(days=30),
        until=at,
        ended_at=at,
        **{
            "state": "finished",
            "result": json.dumps({**found, "counted_all": True}),
            **more,
        },
    )


def read(person: Person, project: Project, path: str = "", status: int = 200) -> str:
    address = f"/p/{project.slug}/policies/default/suggestions/{path}"
    page = open_browser(person.user).get(address)
    assert page.status_code == status, page.status_code
    return page.content.decode()


def post(person: Person, project: Project, path: str, **form: str) -> Any:
    address = f"/p/{project.slug}/policies/default/suggestions/{path}/"
    return open_browser(person.user).post(address, form)


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_nobody_has_looked_yet(project: Project, alice: Person, bob: Person) -> None:
    make_policy("default", project=project)
    page = read(alice, project)
    assert "Nobody has looked yet" in plain(page)
    assert "Look through history" in plain(page)
    assert "A manager can have it looked through." in plain(read(bob, project))
    assert post(bob, project, "search").status_code == 404
    assert "Nobody has looked yet" in plain(read(alice, project, f"{SETTING}/"))
    read(alice, project, "continue.nothing/", status=404)

    assert post(alice, project, "search").status_code == 302

    page = read(alice, project)
    assert "Looking through the last 30 days" in plain(page)
    assert 'hx-trigger="every 1s"' in page


def test_what_is_suggested_is_said_with_what_it_costs(
    project: Project, alice: Person, bob: Person
) -> None:
    store(project)
    page = read(alice, project)
    said = plain(page)
    assert "Suggestions 2" in said
    assert "12 runs with 40 steps, 3 of them measured in another way" in said
    assert "Rework limit 30 % becomes 25 % Pauses sooner" in said
    assert (
        "It would have caught 6 of 6 runs that people aborted (today 1), and asked in "
        "vain 2 times (today 2)." in said
    )
    assert "Rests on 20 rulings, 6 aborts and 14 approvals" in said
    assert "Asked 22 times: people approved 20, and denied or changed none." in said
    assert "1 expired unanswered, 1 still waiting" in said
    assert "rm -rf &lt;b&gt;build" in page
    assert said.count("Too little to tell by") == len(LIMITS) - 1
    assert page.count("Make draft") == 2
    assert "style=" not in page
    assert "Make draft" not in read(bob, project)


def test_every_value_of_a_limit_is_drawn_and_listed(
    project: Project, alice: Person
) -> None:
    store(project)
    page = read(alice, project, f"{SETTING}/")
    said = plain(page)
    assert "Pauses sooner at 25 % instead of 30 %" in said
    for row in (
        "0 % – 9 % 6 14",
        "25 % suggested 6 2",
        "30 % today 1 2",
        "60 % – 100 % 0 0",
    ):
        assert row in said
    assert "5 decisions on steps would come out differently." in said
    (drawing,) = re.findall(r"<figure.*?>(.*?)<figcaption>", page, flags=re.S)
    root = ElementTree.fromstring(drawing)  # noqa: S314 (drawn by us)
    assert "It would have caught 6 of 6" in root.attrib["aria-label"]
    titles = [each.text for each in root.iter("title")]
    assert sorted(map(str, titles)) == [
        *("suggested 25 %: 2", "suggested 25 %: 6", "today 30 %: 1", "today 30 %: 2")
    ]
    stays = plain(read(alice, project, "budget.cost_usd/"))
    assert "Stays at $10.00" in stays
    assert "Make draft" not in stays


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.setting)
def test_every_limit_can_be_drawn(limit: Any) -> None:
    item = count_limit(limit.setting, [("stopped", 1), ("approved", 0)])
    assert build_chart(item, height=HIGH).height == 2 * HIGH + 82
    chart = build_chart(item)
    for panel in chart.panels:
        places = [each.split(",") for each in panel.points.split()]
        assert all(0 <= float(x) <= WIDTH for x, _ in places)
        assert all(0 <= float(y) <= LOW for _, y in places)
        assert [float(x) for x, _ in places] == sorted(float(x) for x, _ in places)
        assert [mark.tone for mark in panel.marks] == ["today"]
    assert (chart.ticks[0].x, chart.ticks[-1].x) == (0, 100)
    assert sum(row.mark == "today" for row in chart.rows) == 1


def test_one_button_makes_a_draft_and_starts_its_backtest(
    project: Project, alice: Person, bob: Person
) -> None:
    search = store(project)
    assert post(bob, project, "draft", setting=SETTING).status_code == 404

    answer = post(alice, project, "draft", setting=SETTING)

    tried = Backtest.objects.get(project=project)
    assert answer["Location"] == f"/p/{project.slug}/backtests/{tried.code}/"
    assert (tried.since, tried.until) == (search.since, search.until)
    draft = PolicyVersion.objects.get(project=project, version=search.version + 1)
    assert json.loads(draft.document)["continue"]["max_rework_ratio"] == 0.25
    assert "Suggested from history." in draft.note
    again = post(alice, project, "draft", setting=SETTING)
    shown = f"/p/{project.slug}/policies/default/versions/{draft.version}/"
    assert again["Location"] == shown
    run_backtests()
    page = open_browser(alice.user).get(shown).content.decode()
    assert "Backtest: 0 of 0 decisions change" in plain(page)
    assert str(tried.code) in page
    refused = post(alice, project, "draft", setting="budget.tokens")
    assert refused.status_code == 422
    assert "not suggested any more" in plain(refused.content.decode())


def test_what_rests_on_few_rulings_is_shown_grey_and_not_offered(
    project: Project, alice: Person
) -> None:
    store(project, cases=CASES[:-1], rule={**RULE, "approved": 19})
    page = read(alice, project)
    said = plain(page)
    assert "Suggestions 0" in said
    assert "30 % becomes 25 %" in said
    assert said.count("Only 19 rulings so far: a draft takes 20.") == 2
    assert page.count("faint") == 2
    assert "Make draft" not in said
    alone = read(alice, project, f"{SETTING}/")
    assert "Only 19 rulings so far" in plain(alone)
    assert "faint" in alone
    assert "Make draft" not in alone
    for setting in (SETTING, "tools.rules.delete-folder"):
        refused = post(alice, project, "draft", setting=setting)
        assert refused.status_code == 422
        assert "Only 19 rulings so far" in plain(refused.content.decode())
    assert not Backtest.objects.filter(project=project).exists()
    address = f"/p/{project.slug}/policies/default/"
    policy = open_browser(alice.user).get(address).content.decode()
    assert not re.search(r"Suggestions \d", plain(policy))


def test_another_version_in_force_and_a_failure_are_said(
    project: Project, alice: Person
) -> None:
    store(project)
    store(project, state="failed", reason="It could not be finished.", result="{}")
    make_policy("default", project=project, **{"continue": {"repeat_limit": 9}})
    page = read(alice, project)
    assert "Look again before you make a draft." in plain(page)
    assert "The last search failed. It could not be finished." in plain(page)
    assert page.count('disabled title="Another version is in force') == 2
    assert post(alice, project, "draft", setting=SETTING).status_code == 412


def test_a_policy_with_drafts_alone_has_no_history(
    project: Project, alice: Person
) -> None:
    create_version(project_id=project.pk, name="new", document={})
    browser = open_browser(alice.user)
    address = f"/p/{project.slug}/policies/new/suggestions/"
    said = plain(browser.get(address).content.decode())
    assert "No version of this policy is in force" in said
    assert browser.post(f"{address}search/").status_code == 422


def test_the_policys_page_says_how_many_there_are(
    project: Project, alice: Person
) -> None:
    def look() -> str:
        page = open_browser(alice.user).get(f"/p/{project.slug}/policies/default/")
        return plain(page.content.decode())

    assert "Suggestions 2" not in look()
    store(project)
    assert "Suggestions 2" in look()
    make_policy("default", project=project, **{"continue": {"repeat_limit": 9}})
    assert "Suggestions 2" not in look(), "another version was looked at"


def test_it_takes_few_queries(project: Project, alice: Person) -> None:
    store(project)
    browser = open_browser(alice.user)
    address = f"/p/{project.slug}/policies/default/suggestions/"
    browser.get(address)
    with CaptureQueriesContext(connection) as queries:
        browser.get(address)
    assert len(queries) <= 13
