"""Tool calls in a run's timeline: each entry a line that a person understands."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest

from accounts.models import Project
from console.format import format_elapsed
from tests.gateway.calls.calls import ask, claim, command, rule, settle, tool
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.once("draws entries, not SQL")


def lines(person: Person, project: Project, run: str) -> list[str]:
    """The rows of the page as a reader has them, oldest first."""
    page = open_browser(person.user).get(f"/p/{project.slug}/runs/{run}/")
    rows = re.findall(r'<li id="entry-.*?</li>', page.content.decode(), re.S)
    return [unescape(row) for row in reversed(rows)]


def get_words(row: str) -> str:
    """The words of a row, without its markup."""
    return " ".join(re.sub(r"<[^>]*>", " ", row).split())


def look(row: str) -> tuple[str, str]:
    """Icon and tone."""
    (found,) = re.findall(r'icon c-(\w+)".*?#i-([\w-]+)"', row)
    return found[1], found[0]


def test_an_allowed_call_from_its_judgement_to_its_result(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    call = command(agent, run, "git status\n--short")
    claim(agent, run, call)
    settle(agent, run, call, output="clean", duration_ms=340, tokens=1_200)
    _, judged, claimed, settled = lines(alice, project, run)
    assert "Call allowed Bash git status --short" in get_words(judged)
    assert "<code>git status --short</code>" in judged
    assert look(judged) == ("terminal", "mute")
    assert "Call started" in get_words(claimed)
    assert "Call done in 340 ms clean" in get_words(settled)
    assert "1.2k" in get_words(settled)
    assert look(settled) == ("check", "mute")


def test_a_failed_call_says_so(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    call = command(agent, run, "make")
    settle(agent, run, call, ok=False, output={"code": 2}, duration_ms=125_000)
    settled = lines(alice, project, run)[-1]
    assert "Call failed after 2 m 5 s" in get_words(settled)
    assert look(settled) == ("x", "stop")


def test_a_held_call_and_its_amendment(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    rule(
        reviewer,
        call,
        "amend",
        amended={"command": "rm -rf build/cache"},
        note="Only the cache",
        remember={"scope": "exact", "uses": 1},
    )
    _, judged, opened, ruled = lines(alice, project, run)
    assert "Call needs approval Bash rm -rf build" in get_words(judged)
    assert call["findings"][0]["message"] in get_words(judged)
    assert look(judged) == ("pause", "pause")
    assert "Waiting for a person" in get_words(opened)
    assert "Approved with changes Only the cache rm -rf build/cache" in get_words(ruled)
    assert "This exact call may run 1 more time without asking" in get_words(ruled)
    assert look(ruled) == ("check", "go")


def test_a_permitted_call_and_the_permission_taken_back(
    agent: httpx.Client, reviewer: httpx.Client, project: Project, alice: Person
) -> None:
    run = start_run(agent)
    call = command(agent, run)
    rule(reviewer, call, "approve", remember={"scope": "exact"})
    command(agent, run)
    (permission,) = reviewer.get("/permissions").json()["items"]
    reviewer.post(f"/permissions/{permission['id']}/revoke")
    *_, permitted, revoked = lines(alice, project, run)
    assert "Call allowed" in get_words(permitted)
    assert "standing permission, use 1" in get_words(permitted)
    assert look(permitted) == ("key", "mute")
    assert "Standing permission revoked" in get_words(revoked)


def test_blocked_warned_and_answered_again(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    make_policy(
        "small", project=project, tools={"max_diff_lines": 1, "idempotent": ["look"]}
    )
    run = start_run(agent, policy="small")
    ask(agent, run, kind="tool", tool="Write", arguments_json='{"path": ')
    ask(agent, run, kind="edit", file_path="a/b.py", content="1\n2\n3\n")
    first = tool(agent, run, "look", at="a\u202eb")
    settle(agent, run, first)
    tool(agent, run, "look", at="a\u202eb")
    _, blocked, warned, looked, _, again = lines(alice, project, run)
    assert "Call blocked Write" in get_words(blocked)
    assert "cannot be read" in get_words(blocked)
    assert look(blocked) == ("stop", "stop")
    assert "Call allowed with a warning Edit a/b.py" in get_words(warned)
    assert look(warned) == ("alert", "slow")
    assert "⟨U+202E⟩" in get_words(looked)
    assert "Call answered from a stored result look" in get_words(again)
    assert look(again) == ("retry", "mute")


@each_row(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_000, "1.0 s"),
        (9_949, "9.9 s"),
        (12_345, "12 s"),
    ],
)
def test_how_long_it_took(milliseconds: int, words: str) -> None:
    assert format_elapsed(milliseconds) == words
