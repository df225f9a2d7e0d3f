"""Nobody approves what they have not been shown (P27, M44)."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from reviews.models import Reading, Review
from reviews.rulings.call_pages import build_call_pages
from safetext.paging import PAGE
from tests.console.queue.panes import Desk, open_desk
from tests.gateway.calls.calls import claim, command, rule, tool
from tests.support.builders import Person, start_run
from tests.support.rows import each_row

LINE = "#    a line that only fills the page\n"
LONG = LINE * 700 + "rm -rf /srv/payload\n" + LINE * 700

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


@pytest.fixture
def run(agent: httpx.Client) -> str:
    return start_run(agent)


@pytest.fixture
def call(agent: httpx.Client, run: str) -> dict[str, Any]:
    return command(agent, run, LONG)


@pytest.fixture
def desk(project: Project, alice: Person, call: dict[str, Any]) -> Desk:
    return open_desk(alice, project, call)


def build_content(texts: dict[str, Any]) -> dict[str, Any]:
    return {"call_kind": "tool", "shown": {"arguments": texts}, "preview": None}


def test_a_long_command_comes_in_pages_and_says_where_to_look(desk: Desk) -> None:
    first = desk.look()
    assert "page 1 of 4" in first.text
    assert "rm -rf /srv/payload" not in first.part("What would run")
    assert "page 2" in first.part("Why you are asked")
    assert "Show page 2 of 4" in first.text
    second = desk.turn(2)
    assert second.status == 200
    assert "rm -rf /srv/payload" in second.part("What would run")
    assert "<mark" in second.part("What would run")
    assert "Show page 3 of 4" in second.text


def test_approving_is_refused_until_every_page_was_shown(
    desk: Desk, agent: httpx.Client, run: str, call: dict[str, Any]
) -> None:
    for action in ("approve", "amend"):
        refused = desk.rule(action, amended="ls")
        assert refused.status == 428
        assert "Read all 4 pages first: 1 was shown to you." in refused.text
    for page in (2, 3):
        assert desk.turn(page).status == 200
    refused = desk.rule("approve")
    assert refused.status == 428
    assert "Read all 4 pages first: 3 were shown to you." in refused.text
    assert claim(agent, run, call).status_code == 409
    last = desk.turn(4)
    assert "Read all" not in last.text
    assert desk.rule("approve").status == 200
    assert claim(agent, run, call).status_code == 200


def test_the_buttons_say_so(desk: Desk) -> None:
    waiting, hint = 'disabled aria-describedby="unread"', 'id="unread"'
    assert desk.look().html.count(waiting) == 2
    assert hint in desk.look().html
    for page in (2, 3, 4):
        desk.turn(page)
    assert waiting not in desk.look().html
    assert hint not in desk.look().html


@pytest.mark.parametrize("action", ["deny", "abort"])
def test_saying_no_needs_no_reading(desk: Desk, action: str) -> None:
    assert desk.rule(action, text="No", reason="No").status == 200


@pytest.mark.parametrize(
    ("page", "words"),
    [(3, "Page 2 comes first"), (5, "no such page"), (0, "no such page")],
)
def test_only_the_next_page_counts(desk: Desk, page: int, words: str) -> None:
    refused = desk.turn(page)
    assert refused.status == 428
    assert words in refused.text
    assert "1 was shown to you" in desk.look().text


def test_a_page_twice_counts_once(desk: Desk) -> None:
    for _ in range(3):
        assert desk.turn(2).status == 200
    assert "2 were shown to you" in desk.look().text
    assert "page 1 of 4" in desk.look(page="1").text
    assert "page 2 of 4" in desk.look(page="9").text
    assert Reading.objects.get(review__code=desk.path.split("/")[-2]).pages == 2


def test_everybody_reads_for_themselves(
    desk: Desk, project: Project, bob: Person, call: dict[str, Any]
) -> None:
    for page in (2, 3, 4):
        desk.turn(page)
    his = open_desk(bob, project, call)
    assert "1 was shown to you" in his.look().text
    assert his.rule("approve").status == 428


def test_pages_work_without_a_script(desk: Desk) -> None:
    answer = desk.client.post(f"{desk.path}page/", {"next": "2"})
    assert (answer.status_code, answer["Location"]) == (302, f"{desk.path}?page=2")
    page = desk.client.get(answer["Location"]).content.decode()
    assert "page 2 of 4" in page
    assert "rm -rf /srv/payload" in page


def test_turning_pages_is_for_members_only(desk: Desk, charlie: Person) -> None:
    desk.client.force_login(charlie.user)
    assert desk.turn(2).status == 404


def test_a_program_gets_everything_at_once(
    call: dict[str, Any], reviewer: httpx.Client
) -> None:
    """The JSON door serves the whole content in one answer."""
    assert rule(reviewer, call, "approve").status_code == 200


def test_a_closed_review_is_read_freely(
    desk: Desk, call: dict[str, Any], reviewer: httpx.Client
) -> None:
    rule(reviewer, call, "deny")
    assert "page 4 of 4" in desk.look(page="4").text


def test_many_arguments_are_packed_and_none_is_lost(
    agent: httpx.Client, run: str, project: Project, alice: Person
) -> None:
    arguments = {f"a{n}": f"{n} " * 900 for n in range(30)}
    call = tool(agent, run, "shell", command="rm -rf build", **arguments)
    desk = open_desk(alice, project, call)
    review = Review.objects.get(code=call["review"]["id"])
    assert review.kind == "confirmation"
    pages = [desk.look(), *(desk.turn(n) for n in range(2, 7))]
    seen = "".join(page.part("What would run") for page in pages if page.status == 200)
    assert "31 arguments" in pages[0].text
    for name in arguments:
        assert f"<code>{name}</code>" in seen
    assert desk.rule("approve").status == 200


@each_row(
    "texts",
    [
        {},
        {"a": ""},
        {"a": "x" * (3 * PAGE), "b": "y"},
        {"a": "ä" * PAGE, "b": ["z" * PAGE, {"c": "1\n" * PAGE}]},
        {"n" * 5_000: {"m" * PAGE: "v"}},
        {f"k{n}": n for n in range(5_000)},
    ],
    ids=["none", "empty", "long", "deep", "long name", "many"],
)
def test_the_pages_together_are_the_call(texts: dict[str, Any]) -> None:
    sheets = build_call_pages(build_content(texts))
    joined: dict[tuple[str, tuple[str, ...]], str] = {}
    for sheet in sheets:
        for part in sheet:
            key = (part.text.place, part.text.names)
            joined[key] = joined.get(key, "") + part.text.text[part.start : part.end]
    every = "\n".join([*joined.values(), *(".".join(names) for _, names in joined)])

    def check(value: object) -> None:
        if isinstance(value, dict):
            for name, below in value.items():
                assert name in every
                check(below)
        elif isinstance(value, list):
            for below in value:
                check(below)
        else:
            assert str(value) in every

    check(texts)
    for sheet in sheets:
        size = sum(len(p.text.text[p.start : p.end].encode()) for p in sheet)
        assert size <= PAGE


def names_in(texts: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    sheets = build_call_pages(build_content(texts))
    return [(part.text.names, part.text.text) for sheet in sheets for part in sheet]


LONG_NAME = "n" * 120


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"args": ["v"]}, {"args": {"0": "v"}}),
        ({"args": ["v"]}, {"args": {"[0]": "v"}}),
        ({f"{LONG_NAME}\n{LONG_NAME}": "v"}, {LONG_NAME: {LONG_NAME: "v"}}),
    ],
)
def test_two_different_calls_never_look_the_same(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    assert names_in(one) != names_in(other)


def test_a_long_name_is_told_once() -> None:
    name = "n" * 250_000
    rows = names_in({name: {f"k{n}": "v" for n in range(2000)}})
    assert {names for names, text in rows if text == name} == {("…",)}
    assert all(len("".join(names)) < 300 for names, _ in rows)
