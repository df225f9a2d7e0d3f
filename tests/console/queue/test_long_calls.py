"""However a call is built, a page of it is small, and its pages are all of it."""

from __future__ import annotations

import re
import sys
from types import FrameType
from typing import Any

import httpx
import pytest

from accounts.models import Project
from console.queue.amending.box import build_amend_box
from reviews.rulings.call_pages import build_call_pages
from safetext import show_text
from tests.console.queue.panes import Desk, open_desk
from tests.gateway.calls.calls import claim, command, tool
from tests.support.builders import Person, start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

MOST_BYTES = 300_000
LONG = {
    "newlines": "\n" * 250_000,
    "newlines, then a payload": "\n" * 200_000 + "rm -rf /srv\n" + "\n" * 40_000,
    "blank lines of two kinds": " \n\n" * 60_000,
    "short lines": "x\n" * 60_000,
    "a document of short lines": "sh <<'EOF'\n" + "a\n" * 60_000 + "EOF\nrm -rf x",
    "a document of blank lines": "rm -rf x <<'EOF'\n" + "\n" * 100_000 + "EOF\n",
    "a name over many lines": "rm -rf '" + "\n" * 50_000 + "'",
    "a name over many short lines": "rm -rf '" + "b\n" * 50_000 + "'",
}
UNSEEN = {
    "carriage returns": "rm -rf x" + "\r" * 249_000,
    "bells": "rm -rf x" + "\a" * 160_000,
    "hard spaces": "rm -rf x" + "\u00a0" * 100_000,
    "joiners": "rm -rf x" + "\u200d" * 80_000,
    "two joiners in turn": "rm -rf x" + "\u200d\u200c" * 40_000,
    "runs too short to fold": "rm -rf x" + ("\r" * 48 + ".") * 5_000,
    "marks on no letter": "rm -rf x " + "\u1ab0\u1ab1" * 40_000,
}


@each_row("text", [*LONG.values(), *UNSEEN.values()], ids=[*LONG, *UNSEEN])
def test_every_page_is_small_and_together_they_are_the_text(text: str) -> None:
    content = {
        "call_kind": "command",
        "shown": {"command": text},
        "preview": None,
    }
    parts = [part for call_page in build_call_pages(content) for part in call_page]
    assert "".join(part.text.text[part.start : part.end] for part in parts) == text


def count_calls(text: str) -> int:
    """How many calls of functions it takes to show a command: its cost without a clock."""
    content = {"call_kind": "command", "shown": {"command": text}, "preview": None}
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        build_amend_box(content)
        for call_page in build_call_pages(content):
            for part in call_page:
                show_text(part.text.text, page=(part.start, part.end))
    finally:
        sys.setprofile(before)
    return calls


@each_row(
    "end", ["\n", "\r", "\r\n", "\v", "\f", "\x85", "\u2028", "\u2029"], ids=ascii
)
def test_line_ends_of_every_kind_are_looked_at_by_runs(end: str) -> None:
    """Not one by one, or their page would take the server a second."""
    count = 60_000 // len(end.encode())
    assert count_calls("rm -rf x" + end * count) < count // 5


@each_row("text", [*LONG.values()], ids=[*LONG])
def test_the_first_and_the_last_page_are_small(
    agent: httpx.Client, project: Project, alice: Person, text: str
) -> None:
    call = command(agent, start_run(agent), text)
    desk = open_desk(alice, project, call)
    first = desk.look()
    assert len(first.html.encode()) < MOST_BYTES
    number = re.search(r"page 1 of (\d+)", first.text)
    assert number
    assert int(number[1]) < 250
    served = desk.turn(2)
    assert served.status == 200
    assert len(served.html.encode()) < MOST_BYTES


@each_row("text", [*UNSEEN.values()], ids=[*UNSEEN])
def test_a_page_of_unseen_characters_is_small(
    agent: httpx.Client, project: Project, alice: Person, text: str
) -> None:
    desk = open_desk(alice, project, command(agent, start_run(agent), text))
    assert len(desk.look().html.encode()) < MOST_BYTES


def test_many_arguments_of_many_lines_share_a_page_no_more_than_fit(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    lines = {f"a{n}": "y\n" * 200 for n in range(30)}
    call = tool(agent, start_run(agent), "db", sql="DROP TABLE t", **lines)
    desk = open_desk(alice, project, call)
    assert len(desk.look().html.encode()) < MOST_BYTES


@each_row(
    "value",
    ["\r" * 249_000, "\u200d\u200c" * 40_000, " \t" * 120_000],
    ids=["one run", "joiners in turn", "blanks in turn"],
)
def test_a_page_of_an_argument_is_small(
    agent: httpx.Client, project: Project, alice: Person, value: str
) -> None:
    call = tool(agent, start_run(agent), "db", sql=f"DROP TABLE t{value}")
    assert len(open_desk(alice, project, call).look().html.encode()) < MOST_BYTES


def test_many_arguments_of_escapes_share_a_page_no_more_than_fit(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    controls = {f"a{n}": "\r\a" * 200 for n in range(30)}
    call = tool(agent, start_run(agent), "db", sql="DROP TABLE t", **controls)
    desk = open_desk(alice, project, call)
    assert len(desk.look().html.encode()) < MOST_BYTES


def test_blank_lines_stay_folded_under_a_mark(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    call = command(agent, start_run(agent), "rm -rf 'a" + "\n" * 900 + "b'\nls")
    pane = open_desk(alice, project, call).look()
    assert "⟨899 blank lines⟩" in pane.text
    shown = pane.part("What would run")
    assert re.search(r"<mark[^>]*>((?!</mark>).)*blank lines⟩", shown, re.S)


@pytest.fixture
def newlines(project: Project, alice: Person, agent: httpx.Client) -> tuple[Desk, Any]:
    run = start_run(agent)
    call = command(agent, run, LONG["newlines"])
    return open_desk(alice, project, call), (run, call)


def test_it_is_approved_only_after_its_last_page(
    newlines: tuple[Desk, Any], agent: httpx.Client
) -> None:
    desk, (run, call) = newlines
    assert desk.rule("approve").status == 428
    pages = int(re.findall(r"page 1 of (\d+)", desk.look().text)[0])
    counted = 0
    for page in range(1, pages + 1):
        pane = desk.turn(page) if page > 1 else desk.look()
        folds = re.findall(r"([\d,]+) × ⟨U\+000A⟩", pane.part("What would run"))
        counted += sum(int(fold.replace(",", "")) for fold in folds)
        if page == pages - 1:
            assert desk.rule("approve").status == 428
    assert counted == 250_000
    assert desk.rule("approve").status == 200
    assert claim(agent, run, call).status_code == 200
