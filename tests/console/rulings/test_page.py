"""The page of rulings: figures, filters, order, pages, and who sees whose figures."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.rulings.choices import list_menus, list_questions
from console.rulings.filters import read_filters
from console.rulings.rows import build_ruling_row
from reviews.models import RulingFact
from reviews.past_rulings.filters import RulingSearch, list_ruling_page
from tests.gateway.calls.calls import command, rule
from tests.reviews.past_rulings.bulk import add_rulings
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def read(person: Person, project: Project, query: str = "") -> str:
    page = open_browser(person.user).get(f"/p/{project.slug}/rulings/{query}")
    assert page.status_code == 200
    return page.content.decode()


def plain(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def list_shown(html: str) -> list[str]:
    return re.findall(r'data-ruling="([^"]+)"', html)


def find_link(html: str, words: str) -> str:
    """Where a link with these words leads."""
    found = re.search(rf'<a[^>]*href="([^"]*)"[^>]*>(?:<svg.*?</svg>)?{words}', html)
    assert found, words
    return unescape(found[1])


def get_row(html: str, person: str) -> str:
    start = html.index(f'<tr data-person="{person}"')
    return html[start : html.index("</tr>", start)]


@pytest.fixture
def ruled(
    agent: httpx.Client, reviewer: httpx.Client, manager: httpx.Client
) -> httpx.Client:
    """bob denies a call; alice approves one within the second."""
    run = start_run(agent)
    rule(reviewer, command(agent, run, "rm -rf src"), "deny", note="Not this <one>")
    rule(manager, command(agent, run, "rm -rf lib"), "approve")
    RulingFact.objects.filter(run__code=run, action="approve").update(took_ms=900)
    RulingFact.objects.filter(run__code=run, action="deny").update(took_ms=61_000)
    return manager


def test_an_empty_project_says_what_will_be_here(project: Project, bob: Person) -> None:
    said = plain(read(bob, project))
    assert "Nobody ruled in 30 days" in said
    assert "Open the review queue" in said
    assert "No review is waiting now." in said


def test_each_ruling_is_a_row_with_what_came_of_it(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    page = read(alice, project)
    assert len(list_shown(page)) == 2
    said = plain(page)
    for words in ("not run yet", "the run goes on", "Not this <one>", "1 m 1 s"):
        assert words in said
    assert "2 in 30 days" in said
    # A hint in amber, beside words that say the same; never red.
    assert re.search(
        r'class="num took pause" title="Approved after less than 3 s', page
    )
    assert page.count("took pause") == 1


@pytest.mark.parametrize(
    ("action", "took_ms", "read_ms", "fast"),
    [
        ("approve", 2_999, None, True),
        ("approve", 3_000, None, False),
        ("amend", 2_999, None, True),
        ("deny", 2_999, None, False),
        # What a screen told counts more than how long it was open.
        ("approve", 61_000, 2_999, True),
        ("approve", 61_000, 3_000, False),
        ("approve", 61_000, 0, True),
    ],
)
def test_an_approval_is_fast_by_the_time_that_it_was_read(
    ruled: httpx.Client,
    project: Project,
    action: str,
    took_ms: int,
    read_ms: int | None,
    fast: bool,
) -> None:
    facts = RulingFact.objects.filter(project=project)
    facts.update(action=action, took_ms=took_ms, read_ms=read_ms)
    search = RulingSearch(project_id=project.pk)
    page = list_ruling_page(search, cursor=None, limit=1)
    row = build_ruling_row(page.rows[0], slug=project.slug, at=timezone.now())
    assert row.fast is fast
    read = {None: "–", 0: "not opened"}.get(read_ms)
    assert read in {None, row.read}


def test_all_of_time_begins_with_the_first_ruling_of_the_project(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    """So many rulings a week are those of all the weeks since."""
    add_rulings(project, 27, by=alice.user)
    facts = RulingFact.objects.filter(project=project).order_by("pk")
    at = timezone.now()
    facts.filter(by=alice.user).update(at=at - timedelta(days=14))
    facts.filter(pk=facts.filter(by=alice.user)[0].pk).update(
        at=at - timedelta(days=28)
    )
    row = plain(get_row(read(alice, project, "?period=all"), alice.user.username))
    assert "7 a week" in row


def test_managers_see_everybody_and_a_reviewer_themselves(
    ruled: httpx.Client, project: Project, alice: Person, bob: Person
) -> None:
    page = read(alice, project)
    assert "1 of 1" in plain(get_row(page, alice.user.username))
    assert get_row(page, bob.user.username)
    assert get_row(page, "")
    own = read(bob, project)
    assert re.findall(r'data-person="([^"]*)"', own) == [bob.user.username]
    assert "Your rulings" in plain(own)
    assert len(list_shown(own)) == 2  # what was ruled everybody may read


def test_every_figure_leads_to_the_list_that_adds_up(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    row = get_row(read(alice, project), alice.user.username)
    for figure, count in (("rulings", 1), ("fast", 1), ("regretted", 0)):
        cell = row[row.index(f'data-figure="{figure}"') :]
        address = unescape(re.search(r'href="([^"]*)"', cell)[1])  # type: ignore[index]
        page = read(alice, project, address)
        assert len(list_shown(page)) == count
        assert plain(page).count("No ruling matches") == (count == 0)


def test_filters_are_pills_that_can_be_taken_off(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    query = "?action=deny&rule=destructive&faster_than_ms=120000&q=src"
    page = read(alice, project, query)
    assert len(list_shown(page)) == 1
    pills = re.findall(r'<span class="pill">(.*?)</a></span>', page, re.DOTALL)
    assert [plain(pill) for pill in pills] == [
        *("Ruling denied", "Rule destructive", "Read under 2 m", "Text src")
    ]
    without = unescape(re.search(r'href="([^"]*)"', pills[0])[1])  # type: ignore[index]
    assert dict(parse_qsl(urlsplit(without).query)) == {
        "rule": "destructive",
        "faster_than_ms": "120000",
        "q": "src",
    }


def test_regretted_rulings_are_in_the_list_beside_the_others(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    facts = RulingFact.objects.filter(project=project)
    facts.filter(action="approve").update(regretted=True)
    regretted = facts.get(regretted=True).ruling.code
    assert len(list_shown(read(alice, project))) == 2
    assert list_shown(read(alice, project, "?regretted=true")) == [str(regretted)]
    assert len(list_shown(read(alice, project, "?regretted=false"))) == 2


def test_what_is_offered_is_of_the_project_and_the_period(
    ruled: httpx.Client, project: Project, alice: Person, charlie: Person
) -> None:
    """The rules of the period that asked most often first, among equals by their names."""
    add_rulings(project, 2, by=alice.user, rule="git-push-force")
    add_rulings(project, 2, by=alice.user, rule="a-rule")
    add_rulings(project, 5, by=alice.user, rule="long-ago")
    long_ago = timezone.now() - timedelta(days=40)
    facts = RulingFact.objects.filter(project=project)
    facts.filter(rule="long-ago").update(at=long_ago)

    def list_choices(query: str) -> dict[str, list[str]]:
        filters = read_filters(QueryDict(query))
        search = filters.build_search(project_id=project.pk, at=timezone.now())
        menus = list_menus(search, filters)
        return {menu.name: [each.words for each in menu.choices] for menu in menus}

    # The two that the page began with are of one rule.
    recent = ["destructive", "a-rule", "delete-folder", "git-push-force"]
    assert list_choices("")["Rule"] == recent
    # What is chosen beside the period hides no choice.
    assert list_choices("rule=a-rule&by=nobody")["Rule"] == recent
    assert list_choices("period=all")["Rule"] == [
        "destructive",
        "long-ago",
        *recent[1:],
    ]
    assert alice.user.username in list_choices("")["Person"]
    assert charlie.user.username not in list_choices("")["Person"]
    assert list_choices("")["Person"] == sorted(list_choices("")["Person"])


def test_a_question_is_marked_where_it_is_what_the_address_asks() -> None:
    def find_chosen(query: str) -> list[str]:
        filters = read_filters(QueryDict(query))
        questions = list_questions(filters, viewer="alice")
        return [each.words for each in questions if each.chosen]

    assert find_chosen("") == ["All rulings"]
    assert find_chosen("period=7d&sort=slowest") == ["All rulings"]
    assert find_chosen("regretted=true") == ["Regretted"]
    assert find_chosen("by=alice") == ["Mine"]
    assert find_chosen("by=bob") == []
    assert find_chosen("by=alice&q=x") == []


def test_what_is_not_known_in_the_address_is_left_out() -> None:
    given = QueryDict(
        "action=bless&severity=huge&kind=pause&period=eon&sort=luck&faster_than_ms=-1"
        "&label=nothing&q=%00x&by="
    )
    filters = read_filters(given)
    assert filters.build_pairs() == [("kind", "pause"), ("q", "x")]
    assert (filters.period, filters.sort) == ("30d", "newest")


def test_pages_and_order_stay_in_the_address(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    add_rulings(project, 60, by=alice.user)
    first = read(alice, project, "?sort=slowest")
    assert 'aria-sort="descending"><a href="?sort=fastest">Waited' in first
    second = read(alice, project, find_link(first, "Next"))
    assert not {*list_shown(first)} & {*list_shown(second)}
    assert len(list_shown(first)) + len(list_shown(second)) == 62
    assert list_shown(read(alice, project, find_link(second, ".*?Back"))) == list_shown(
        first
    )
    gone = open_browser(alice.user).get(f"/p/{project.slug}/rulings/?cursor=gone&q=x")
    assert (gone.status_code, gone["Location"]) == (
        302,
        f"/p/{project.slug}/rulings/?q=x",
    )


def test_only_the_chosen_period_is_shown(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    facts = RulingFact.objects.filter(project=project)
    facts.update(at=timezone.now() - timedelta(days=40))
    assert list_shown(read(alice, project)) == []
    assert len(list_shown(read(alice, project, "?period=90d"))) == 2
    assert len(list_shown(read(alice, project, "?period=all"))) == 2


def test_an_outsider_finds_no_page(project: Project, charlie: Person) -> None:
    page = open_browser(charlie.user).get(f"/p/{project.slug}/rulings/")
    assert page.status_code == 404


def test_the_page_costs_as_many_queries_with_many_rulings(
    ruled: httpx.Client, project: Project, alice: Person
) -> None:
    browser = open_browser(alice.user)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            browser.get(f"/p/{project.slug}/rulings/")
        counts.append(len(queries))
        add_rulings(project, 30, by=alice.user)
    assert counts[0] == counts[1] <= 22
