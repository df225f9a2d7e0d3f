"""Rows PT-01 to PT-13 and JR-01 to JR-12, through the doors that keep nothing.

Answered otherwise than by the reference:
- PT-07: edits name a text, never a range, so no range can pass the end.
- JR-01: what breaks off is never closed, not even for a tool that is read leniently.
- JR-07 to JR-09: no value is changed to please a schema; the schema says what is wrong.
- JR-11: chunks of a stream are put together by the client; a tool without a name is no call.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import client_for
from tests.gateway.calls.calls import gates, judge
from tests.support.builders import make_policy, make_project, make_robot
from tests.support.live import Live
from tests.support.problems import fields, problem
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges texts and requests; nothing it asks is kept")

# A tool for every value that may be read: its schema lets nothing else through.
READ: dict[str, dict[str, Any]] = {
    "quotes": {"a": "foo"},
    "two": {"a": 2, "b": 3},
    "one": {"a": 2},
    "true": {"a": True},
    "false": {"a": False},
    "null": {"a": None},
    "octal": {"a": "0789"},
    "version": {"a": "0.0.1"},
    "uuid": {"a": "1b4e28ba-2fa1-11d2-883f-0016d3cca427"},
    "nested": {"a": 1},
}


@pytest.fixture(scope="module")
def agent(live: Live) -> Iterator[httpx.Client]:
    project = make_project()
    schemas: dict[str, Any] = {name: {"const": value} for name, value in READ.items()}
    schemas["typed"] = {
        "properties": {
            "number": {"type": "number"},
            "list": {"type": "array"},
            "maybe": {"type": ["null", "integer"]},
        }
    }
    tools = {"lenient_arguments": ["*"], "schemas": schemas}
    make_policy("lenient", project=project, tools=tools)
    make_policy("strict", project=project, tools={"schemas": schemas})
    with client_for(live, make_robot(project=project)) as client:
        yield client


def judge_edits(agent: httpx.Client, original: str, *edits: tuple[Any, ...]) -> Any:
    items = [dict(zip(("old", "new", "replace_all"), e, strict=False)) for e in edits]
    return judge(agent, "multi-edit", file_path="a.py", original=original, edits=items)


@each_row(
    ("original", "edits", "result"),
    [
        pytest.param("hello world", [("world", "you")], "hello you", id="PT-01"),
        pytest.param("a b a c a", [("a", "x", True)], "x b x c x", id="PT-03"),
        pytest.param("one two three", [(" two", "")], "one three", id="PT-05"),
        pytest.param(
            "one\r\ntwo\r\n", [("one\ntwo", "1\n2")], "1\r\n2\r\n", id="PT-06"
        ),
        pytest.param("naïve 👩‍👧 x", [("👩‍👧 x", "y")], "naïve y", id="PT-08"),
        pytest.param("abcdef", [("abc", "1"), ("def", "2")], "12", id="PT-09-touching"),
        pytest.param(
            "alpha b gamma", [("gamma", "g"), ("alpha", "AAA")], "AAA b g", id="PT-10"
        ),
        pytest.param("aaa", [("a", "aa", True)], "aaaaaa", id="PT-11"),
        pytest.param("", [("", "new\n")], "new\n", id="PT-12-empty-file"),
    ],
)
def test_edits_that_can_be_made(
    agent: httpx.Client, original: str, edits: list[tuple[Any, ...]], result: str
) -> None:
    answer = judge_edits(agent, original, *edits)
    assert (answer["decision"], answer["findings"]) == ("allow", [])
    digest = hashlib.sha256(result.encode()).hexdigest()
    assert answer["preview"]["result_sha256"] == digest
    assert len(answer["preview"]["matches"]) >= len(edits)


@each_row(
    ("original", "edits", "troubles"),
    [
        pytest.param("a b\na c\na d", [("a", "x")], ["ambiguous"], id="PT-02"),
        pytest.param("hello", [("nothing", "x")], ["no-match"], id="PT-04"),
        pytest.param(
            "one two three",
            [("one two", "x"), ("two three", "y")],
            ["overlap"],
            id="PT-09-overlap",
        ),
        pytest.param("something", [("", "x")], ["empty-old"], id="PT-12"),
        pytest.param(
            "one two two",
            [("one", "1"), ("two", "2"), ("three", "3")],
            ["ambiguous", "no-match"],
            id="PT-13",
        ),
    ],
)
def test_edits_that_cannot_are_refused_together(
    agent: httpx.Client,
    original: str,
    edits: list[tuple[Any, ...]],
    troubles: list[str],
) -> None:
    answer = judge_edits(agent, original, *edits)
    assert answer["decision"] == "block"
    assert set(gates(answer)) == {"multi_edit"}
    assert [f["details"]["trouble"] for f in answer["findings"]] == troubles
    assert answer["preview"] is None


def test_pt_02_the_refusal_says_what_would_help(agent: httpx.Client) -> None:
    (finding,) = judge_edits(agent, "a b\na c", ("a", "x"))["findings"]
    assert "replace_all" in finding["message"]
    assert "more of what is around it" in finding["message"]


def test_pt_07_an_edit_has_no_range(agent: httpx.Client) -> None:
    body = {
        "file_path": "a",
        "original": "x",
        "edits": [{"old": "x", "new": "y", "start": 5}],
    }
    answer = agent.post("/evaluate/multi-edit", json=body)
    assert fields(problem(answer, "invalid")) == ["edits.0.start"]


def test_pt_09_an_overlap_names_both_places(agent: httpx.Client) -> None:
    (finding,) = judge_edits(
        agent, "one\ntwo three four", ("two three", "x"), ("three four", "y")
    )["findings"]
    assert "2:1" in finding["message"]
    assert "2:5" in finding["message"]


def read(agent: httpx.Client, tool: str, text: str, *, policy: str) -> dict[str, Any]:
    return judge(agent, "tool", tool=tool, arguments_json=text, policy=policy)


@each_row(
    ("text", "tool"),
    [
        pytest.param("{'a':'foo'}", "quotes", id="JR-02-single"),
        pytest.param("{a:'foo'}", "quotes", id="JR-02-bare-key"),
        pytest.param('{"a":2"b":3}', "two", id="JR-03-comma"),
        pytest.param('{"a" 2}', "one", id="JR-03-colon"),
        pytest.param('{"a":True}', "true", id="JR-04-True"),
        pytest.param('{"a":False}', "false", id="JR-04-False"),
        pytest.param('{"a":None}', "null", id="JR-04-None"),
        pytest.param('{"a":undefined}', "null", id="JR-04-undefined"),
        pytest.param('{"a":0789}', "octal", id="JR-05-octal"),
        pytest.param('{"a":0.0.1}', "version", id="JR-05-version"),
        pytest.param(
            '{"a":1b4e28ba-2fa1-11d2-883f-0016d3cca427}', "uuid", id="JR-05-uuid"
        ),
        pytest.param('"{\\"a\\": 1}"', "nested", id="JR-10"),
    ],
)
def test_small_slips_block_unless_the_policy_lets_them_be_repaired(
    agent: httpx.Client, text: str, tool: str
) -> None:
    strict = read(agent, tool, text, policy="strict")
    assert (strict["decision"], gates(strict)) == ("block", ["arguments"])
    assert "line 1, column" in strict["findings"][0]["message"]
    assert strict["findings"][0]["details"]["args_truncated"] is False
    lenient = read(agent, tool, text, policy="lenient")
    assert (lenient["decision"], gates(lenient)) == ("warn", ["arguments"])
    assert lenient["findings"][0]["details"]["args_repaired"]


@each_row("policy", ["strict", "lenient"])
@each_row(
    "text",
    [
        pytest.param('{"a":2', id="JR-01-object"),
        pytest.param('{"a":2,', id="JR-01-comma"),
        pytest.param('{"a":[1,2,3,', id="JR-01-list"),
        pytest.param('{"path": "a.py", "content": "x', id="JR-12-write"),
        pytest.param('{"command": "rm -rf /srv/bui', id="JR-12-command"),
        pytest.param('{"command":', id="JR-12-no-value"),
        pytest.param('"{\\"a\\": ', id="JR-12-within-a-text"),
    ],
)
def test_what_breaks_off_is_never_repaired(
    agent: httpx.Client, text: str, policy: str
) -> None:
    answer = read(agent, "Write", text, policy=policy)
    assert (answer["decision"], gates(answer)) == ("block", ["arguments"])
    details = answer["findings"][0]["details"]
    assert details["args_truncated"] is True
    assert (details["line"], details["column"]) == (1, len(text) + 1)


@each_row("policy", ["strict", "lenient"])
@each_row(
    "text",
    ["", "{:2}", '{"a":2}{}', '{"a":"\\u12"}', '{"a":1,"a":2}', "[1]", "{a:1,'a':2}"],
)
def test_jr_06_what_has_no_one_meaning_is_blocked(
    agent: httpx.Client, text: str, policy: str
) -> None:
    answer = read(agent, "Write", text, policy=policy)
    assert (answer["decision"], gates(answer)) == ("block", ["arguments"])
    assert answer["findings"][0]["details"]["args_truncated"] is False


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param('{"number": "42"}', "/number", id="JR-07-integer"),
        pytest.param('{"number": "3.5"}', "/number", id="JR-07-decimal"),
        pytest.param('{"list": "[1, 2]"}', "/list", id="JR-08"),
        pytest.param('{"maybe": ""}', "/maybe", id="JR-09"),
    ],
)
def test_no_value_is_changed_to_please_a_schema(
    agent: httpx.Client, text: str, path: str
) -> None:
    answer = read(agent, "typed", text, policy="lenient")
    assert (answer["decision"], gates(answer)) == ("block", ["schema"])
    assert answer["findings"][0]["details"]["path"] == path


def test_jr_11_a_tool_without_a_name_is_no_call(agent: httpx.Client) -> None:
    answer = agent.post("/evaluate/tool", json={"tool": "", "arguments_json": "{}"})
    assert fields(problem(answer, "invalid")) == ["tool"]
