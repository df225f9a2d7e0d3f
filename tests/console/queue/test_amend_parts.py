"""Edits, patches and requests are changed part by part, and judged as a whole."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from common.errors import Invalid
from console.queue.amending.box import build_amend_box, parse_amendment
from console.queue.amending.changes import build_changes
from console.queue.amending.parts import PartsRefused
from console.queue.amending.texts import NothingChanged
from tests.console.queue.panes import Desk, open_desk
from tests.gateway.calls.calls import ask, claim, tool
from tests.support.builders import Person, make_policy, start_run
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges what is typed, not SQL")

EDITS = [
    {"old": "a = 1", "new": "a = 2", "replace_all": False},
    {"old": "b", "new": "total", "replace_all": True},
]
PATCH = """*** Begin Patch
*** Update File: a.py
@@ def main():
-a = 1
+a = 2
*** Add File: b.py
+total = 3
*** Delete File: c.py
*** End Patch
"""
REQUEST = {
    "method": "DELETE",
    "url": "https://api.example.org/users/7",
    "headers": {"Accept": "text/html", "X-Team": "shop"},
    "body": {"sure": True},
    "timeout": 3,
}


def build_content(kind: str, **shown: Any) -> dict[str, Any]:
    return {"call_kind": kind, "shown": shown}


MULTI_EDIT = build_content("multi_edit", file_path="a.py", edits=EDITS)
FILE_PATCH = build_content("edit", file_path="a.py, b.py, c.py", content=PATCH)
SENT = build_content("tool", arguments=REQUEST)


def read_problems(content: dict[str, Any], **typed: str) -> dict[str, str]:
    fields = {name.replace("_", "-"): text for name, text in typed.items()}
    with pytest.raises(PartsRefused) as refused:
        parse_amendment(content, fields)
    return {name: text for name, (_, text) in refused.value.problems.items()}


def test_each_edit_has_a_field_for_what_it_puts_in() -> None:
    parts = build_amend_box(MULTI_EDIT).parts
    assert [(part.title, part.old, part.text) for part in parts] == [
        ("Edit 1 of 2", "a = 1", "a = 2"),
        ("Edit 2 of 2", "b", "total"),
    ]
    same = {part.name: part.text for part in parts}
    with pytest.raises(NothingChanged):
        parse_amendment(MULTI_EDIT, same)
    changed = parse_amendment(MULTI_EDIT, {**same, "amended-2": "sum\r\n"})
    assert changed == {"edits": [EDITS[0], {**EDITS[1], "new": "sum\n"}]}
    left = parse_amendment(MULTI_EDIT, {**same, "leave-1": "1"})
    assert left == {"edits": [EDITS[1]]}
    with pytest.raises(Invalid, match="deny it instead"):
        parse_amendment(MULTI_EDIT, {"leave-1": "1", "leave-2": "1"})


def test_each_file_of_a_patch_has_a_field_and_keeps_its_name() -> None:
    parts = build_amend_box(FILE_PATCH).parts
    assert [part.title for part in parts] == [
        "Changes in a.py",
        "New file b.py",
        "Deletes c.py",
    ]
    with pytest.raises(NothingChanged):
        parse_amendment(FILE_PATCH, {part.name: part.text for part in parts})
    changed = parse_amendment(FILE_PATCH, {"amended-2": "+total = 4", "leave-3": "1"})
    assert changed["content"] == PATCH.replace("= 3", "= 4").replace(
        "*** Delete File: c.py\n", ""
    )
    # A patch of another form is one text, as before.
    other = build_content("edit", content=PATCH.replace("\n", "\r\n"))
    assert [part.name for part in build_amend_box(other).parts] == ["amended"]


@each_row(
    ("typed", "said"),
    [
        ("+x\n*** Update File: .git/hooks/pre-commit\n+y", "Line 2 would begin"),
        ("+x\n*** End Patch", "Line 2 would begin"),
        ("total = 4", "every line begins with +"),
    ],
)
def test_a_field_of_a_patch_holds_lines_of_its_file(typed: str, said: str) -> None:
    assert said in read_problems(FILE_PATCH, amended_2=typed)["amended-2"]


def test_each_part_of_a_request_has_a_field() -> None:
    parts = build_amend_box(SENT).parts
    assert [part.label.split(",")[0] for part in parts] == [
        "Method",
        "Address",
        "Headers",
        "Body",
        "Other arguments",
    ]
    same = {part.name: part.text for part in parts}
    assert same["amended-3"] == "Accept: text/html\nX-Team: shop"
    with pytest.raises(NothingChanged):
        parse_amendment(SENT, same)
    typed = {**same, "amended-1": "GET", "amended-3": "Accept: */*\r\n\r\n"}
    changed = parse_amendment(SENT, typed)["arguments"]
    assert changed == {**REQUEST, "method": "GET", "headers": {"Accept": "*/*"}}


def test_what_is_wrong_is_told_of_its_field_and_of_all_of_them() -> None:
    problems = read_problems(
        SENT,
        amended_1="GET it",
        amended_2="example.org/a b",
        amended_3="Accept text",
        amended_4="{",
        amended_others='{"url": "x"}',
    )
    assert {name: text[:12] for name, text in problems.items()} == {
        "amended-1": "Write one wo",
        "amended-2": "Write a whol",
        "amended-3": "Line 1 is no",
        "amended-4": "This is no J",
        "amended-others": "url has a fi",
    }
    twice = read_problems(SENT, amended_3="A: 1\na: 2")
    assert "a second time" in twice["amended-3"]


def test_what_has_no_field_of_its_own_stays_among_the_others() -> None:
    odd = {"url": "https://a.invalid", "headers": {"A": ["x", "y"]}, "body": [1]}
    parts = build_amend_box(build_content("tool", arguments=odd)).parts
    assert [part.label for part in parts] == ["Address", "Other arguments, as JSON"]
    plain = build_content("tool", arguments={"address": "alice@example.org"})
    assert [part.name for part in build_amend_box(plain).parts] == ["amended"]


def test_what_is_changed_is_told_part_by_part() -> None:
    after = {"file_path": "a.py", "edits": [{**EDITS[1], "new": "sum"}]}
    changes = build_changes(MULTI_EDIT, after)
    assert [(each.title, each.diff.added, each.diff.removed) for each in changes] == [
        ("Edit 1 of 2", 0, 1),
        ("Edit 2 of 2", 1, 1),
    ]
    # What a program has made of it need not have the same parts.
    whole = build_changes(FILE_PATCH, {"content": "*** Begin Patch\nnone"})
    assert [each.title for each in whole] == [""]


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    ours = {
        "name": "words",
        "pattern": "total|secret",
        "message": "A word of ours",
        "decision": "require-confirmation",
    }
    make_policy("careful", project=project, tools={"patterns": [ours]})
    return start_run(agent, policy="careful")


@pytest.fixture
def call(agent: httpx.Client, run: str) -> dict[str, Any]:
    return ask(
        agent,
        run,
        kind="multi_edit",
        file_path="a.py",
        original="a = 1\nb\nc\n",
        edits=EDITS,
    )


@pytest.fixture
def desk(project: Project, alice: Person, call: dict[str, Any]) -> Desk:
    return open_desk(alice, project, call)


def test_changed_edits_are_judged_confirmed_and_granted(
    desk: Desk, agent: httpx.Client, run: str, call: dict[str, Any]
) -> None:
    typed = {"amended_1": "a = secret", "leave_2": "1"}
    verdict = desk.judge(**typed)
    assert "The gates still ask about this" in verdict.text
    assert "<mark" in verdict.html
    assert verdict.html.count("part-title") == 2
    sent = {name.replace("_", "-"): text for name, text in typed.items()}
    assert desk.rule("amend", **sent).status == 428

    pane = desk.amend_parts(**typed)

    assert pane.status == 200, pane.text
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert ruling["amended"]["edits"] == [{**EDITS[0], "new": "a = secret"}]
    claimed = claim(agent, run, call, ruling["amended"]["digest"])
    assert claimed.json()["call"] == {
        "file_path": "a.py",
        "edits": ruling["amended"]["edits"],
    }
    approved = desk.look().part("What was approved")
    assert "1 finding let through" in approved
    assert "<mark" in approved
    assert agent.get(f"/runs/{run}/verify").json()["ok"]


def test_bad_input_is_told_beside_its_field_and_nothing_is_granted(
    agent: httpx.Client, run: str, project: Project, alice: Person
) -> None:
    asked = tool(agent, run, "http_request", **REQUEST, note="total")
    desk = open_desk(alice, project, asked)
    wrong = {"amended-2": "example.org"}
    verdict = desk.judge(**wrong)
    assert "Address: Write a whole address" in verdict.text
    assert 'data-wrong="amended-2"' in verdict.html
    pane = desk.rule("amend", **wrong)
    assert pane.status == 422
    error = pane.html.partition('id="amended-2-error"')[2]
    assert "Write a whole address" in error[:200]
    assert claim(agent, run, asked).status_code == 409
    assert desk.amend_parts(amended_1="GET").status == 200
    ruling = agent.get(f"/runs/{run}/decision").json()["ruling"]
    assert ruling["amended"]["arguments"] == {
        **REQUEST,
        "method": "GET",
        "note": "total",
    }
