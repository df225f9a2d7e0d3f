"""Input that nobody should send: the stated status, problem+json, never a 5xx."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from accounts.models import Role
from tests.conftest import client_for
from tests.support.builders import (
    make_person,
    make_project,
    make_robot,
    pause_run,
    start_run,
    step,
)
from tests.support.live import Live
from tests.support.people import get_seen
from tests.support.problems import any_problem, problem
from tests.support.rows import each_row

pytestmark = pytest.mark.once("reads bodies, not SQL")

JSON = "application/json"


@pytest.fixture(scope="module")
def doors(live: Live) -> Iterator[list[tuple[httpx.Client, str]]]:
    """One address per way in: the fast path, async Django, sync Django."""
    project = make_project()
    bob = make_person("bob", role=Role.REVIEWER, project=project)
    with (
        client_for(live, make_robot(project=project)) as agent,
        client_for(live, bob) as reviewer,
    ):
        run, paused = start_run(agent), start_run(agent)
        review = pause_run(agent, paused)["review"]["id"]
        yield [
            (agent, "/runs"),
            (agent, f"/runs/{run}/steps"),
            (agent, f"/runs/{run}/steps/batch"),
            (agent, f"/runs/{run}/checkpoints"),
            (agent, f"/runs/{run}/tool-calls"),
            (reviewer, f"/reviews/{review}/ruling"),
            (agent, "/evaluate/continue"),
            (agent, "/evaluate/tool"),
        ]


def deep(levels: int) -> bytes:
    return b'{"a":' * (levels - 1) + b"[]" + b"}" * (levels - 1)


RAW: dict[str, tuple[bytes, str]] = {
    "M1 nesting of 33": (deep(33), "malformed"),
    "M1 nesting of 100,000": (b"[" * 100_000, "malformed"),
    "M1 closed nesting of 100,000": (b"[" * 100_000 + b"]" * 100_000, "malformed"),
    "M5 duplicate key": (b'{"cmd": "safe", "cmd": "evil"}', "duplicate-key"),
    "M5 duplicate, nested": (b'{"a": [{"b": 1, "b": 1}]}', "duplicate-key"),
    "M6 duplicate after unescape": (rb'{"cmd": 1, "cm\u0064": 2}', "duplicate-key"),
    "M7 NaN": (b'{"tokens": NaN}', "malformed"),
    "M7 Infinity": (b'{"tokens": -Infinity}', "malformed"),
    "M7 1e999": (b'{"tokens": 1e999}', "malformed"),
    "M8 4,000 digits": (b'{"tokens": ' + b"9" * 4000 + b"}", "invalid"),
    "M8 2^53 + 1": (b'{"tokens": 9007199254740993}', "invalid"),
    "M8 -2^53": (b'{"tokens": -9007199254740992}', "invalid"),
    "M77 minus nought": (b'{"tokens": -0}', "invalid"),
    "M77 minus nought point nought": (b'{"coherence": -0.0}', "invalid"),
    "M77 minus a little": (b'{"coherence": -1e-999}', "invalid"),
    "M10 lone surrogate": (rb'{"task": "\ud800"}', "bad-encoding"),
    "M10 lone low surrogate": (rb'{"task": "a\udc00b"}', "bad-encoding"),
    "M10 in a key": (rb'{"\udfff": 1}', "bad-encoding"),
    "M10 as bytes": (b'{"task": "\xed\xa0\x80"}', "bad-encoding"),
    "M11 NUL": (rb'{"task": "a\u0000b"}', "bad-encoding"),
    "M11 NUL, nested": (rb'{"state": {"a": ["\u0000"]}}', "bad-encoding"),
    "M11 NUL in a key": (rb'{"a\u0000": 1}', "bad-encoding"),
    "M11 raw NUL": (b'{"task": "a\x00b"}', "malformed"),
    "M12 invalid UTF-8": (b'{"task": "\xff"}', "bad-encoding"),
    "M12 overlong": (b'{"task": "\xc0\xaf"}', "bad-encoding"),
    "M12 beyond Unicode": (b'{"task": "\xf4\x90\x80\x80"}', "bad-encoding"),
    "M13 byte order mark": (b'\xef\xbb\xbf{"task": "t"}', "bad-encoding"),
    "M18 1,000,000 elements": (b"[" + b"1," * 500_000 + b"1]", "malformed"),
    "M18 100,000 keys": (
        b"{" + b",".join(b'"%x":1' % n for n in range(90_000)) + b"}",
        "malformed",
    ),
    "M18 a long text": (b'{"task": "' + b"x" * 262_145 + b'"}', "malformed"),
    "M19 garbage after it": (b'{"task": "t"} x', "malformed"),
    "M19 two documents": (b'{"task": "t"}{"task": "t"}', "malformed"),
    "M19 a comment": (b'{"task": "t" /* hi */}', "malformed"),
    "M19 a trailing comma": (b'{"task": "t",}', "malformed"),
    "M19 single quotes": (b"{'task': 't'}", "malformed"),
    "M19 a control character": (b'{"task": "a\x01"}', "malformed"),
    "M20 nothing": (b"", "malformed"),
    "M20 spaces": (b" \n ", "malformed"),
    "M20 null": (b"null", "invalid"),
    "M20 array": (b"[]", "invalid"),
    "M20 text": (b'"x"', "invalid"),
    "M20 number": (b"1", "invalid"),
    "M20 true": (b"true", "invalid"),
}


@each_row("what", RAW)
def test_a_document_that_is_not_clean_is_refused_at_every_door(
    doors: list[tuple[httpx.Client, str]], what: str
) -> None:
    raw, slug = RAW[what]
    for client, path in doors:
        answer = client.post(path, content=raw, headers={"Content-Type": JSON})
        problem(answer, slug)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_other_encodings_are_refused(agent: httpx.Client, encoding: str) -> None:
    """M13."""
    raw = json.dumps({"task": "t"}).encode(encoding)

    answer = agent.post("/runs", content=raw, headers={"Content-Type": JSON})

    assert any_problem(answer)["status"] == 400


@each_row(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "application/jsonp",
        "text/json",
        "",
        None,
    ],
)
def test_only_json_is_taken(
    doors: list[tuple[httpx.Client, str]], kind: str | None
) -> None:
    """M14."""
    headers = {} if kind is None else {"Content-Type": kind}
    for client, path in doors:
        answer = client.post(path, content=b'{"task": "t"}', headers=headers)
        problem(answer, "unsupported-media")


@each_row(
    "name", ["Content-Type", "Content-Encoding", "Idempotency-Key", "Last-Event-ID"]
)
def test_a_header_that_means_one_thing_stands_once(
    doors: list[tuple[httpx.Client, str]], name: str
) -> None:
    """Which one counts would be read differently by the next program."""
    usual = {"Content-Type": JSON}
    usual.pop(name, None)
    headers = [*usual.items(), (name, "1"), (name, "2")]
    for client, path in doors:
        answer = client.post(path, content=b'{"task": "t"}', headers=headers)
        told = problem(answer, "malformed")["detail"]
        assert told.lower() == f"send one {name.lower()} header."


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "identity, gzip"])
def test_a_compressed_body_is_not_unpacked(agent: httpx.Client, coding: str) -> None:
    """M15."""
    bomb = gzip.compress(b" " * 10_000_000)
    headers = {"Content-Type": JSON, "Content-Encoding": coding}

    problem(agent.post("/runs", content=bomb, headers=headers), "unsupported-media")


def test_a_field_nobody_asked_for_is_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    """M16."""

    cases: list[str] = ["is_admin", "project_id", "decision", "id", "status"]
    for name in cases:
        with subtests.test(name=name):
            run = start_run(agent)
            bodies: dict[str, dict[str, Any]] = {
                "/runs": {"task": "t"},
                f"/runs/{run}/steps": step(1),
                f"/runs/{run}/checkpoints": {"step": 0},
                f"/runs/{run}/finish": {"outcome": "completed"},
            }
            for path, body in bodies.items():
                answer = agent.post(path, json={**body, name: "x"})
                assert problem(answer, "invalid")["errors"][0]["loc"] == [name]
            assert agent.get(f"/runs/{run}").json()["head"]["seq"] == 1


def test_odd_names_are_data(agent: httpx.Client, subtests: pytest.Subtests) -> None:
    """M17."""
    run = start_run(agent)
    cases: list[str] = [
        "__proto__",
        "__class__",
        "$ref",
        "{{7*7}}",
        "%(x)s",
        "${x}",
        "\x7f\x85",
    ]
    for text in cases:
        with subtests.test(text=text):
            state = {text: {text: text}}

            saved = agent.post(
                f"/runs/{run}/checkpoints", json={"step": 0, "state": state}
            )

            assert saved.json()["state"] == state
            assert agent.get(f"/runs/{run}/checkpoints/latest").json()["state"] == state


def test_the_largest_shapes_are_taken(agent: httpx.Client) -> None:
    run = start_run(agent)
    path = f"/runs/{run}/checkpoints"

    nested: Any = []
    for _ in range(29):
        nested = {"a": nested}
    wide = list(range(9990))
    for state in ({"a": nested}, {"a": wide}, {"a": 2**53 - 1, "b": -(2**53) + 1}):
        answer = agent.post(path, json={"step": 0, "state": state})
        assert answer.status_code == 201, answer.text


def test_text_beyond_the_first_plane_comes_back_as_it_was(agent: httpx.Client) -> None:
    text = "\U0001f600 e\u0301 \u202e \uffff \U0010ffff \ue000 \t\n"
    run = start_run(agent, task=text)
    escaped = rb'{"kind": "question", "title": "\ud83d\ude00"}'

    asked = agent.post(
        f"/runs/{run}/reviews", content=escaped, headers={"Content-Type": JSON}
    )

    assert agent.get(f"/runs/{run}").json()["task"] == text
    assert asked.json()["title"] == "\U0001f600"


def test_a_refused_body_changes_nothing(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    before = agent.get(f"/runs/{run}").content
    shown = get_seen(reviewer, review)
    doubled = json.dumps({"action": "abort", **shown})[:-1] + ', "action": "approve"}'

    answer = reviewer.post(
        f"/reviews/{review}/ruling", content=doubled, headers={"Content-Type": JSON}
    )

    problem(answer, "duplicate-key")
    assert agent.get(f"/runs/{run}").content == before


@each_row(
    "path",
    ["", "/nothing", "/runs/x/nothing", "/admin", "/%2e%2e/x"],
)
def test_an_address_that_is_nowhere_is_a_problem_not_a_page(
    agent: httpx.Client, path: str
) -> None:
    problem(agent.get(f"{path or '/'}"), "not-found")


def test_other_verbs_are_refused(
    agent: httpx.Client, subtests: pytest.Subtests
) -> None:
    run = start_run(agent)
    cases: list[str] = ["PUT", "PATCH", "DELETE", "TRACE"]
    for verb in cases:
        with subtests.test(verb=verb):
            for path in ("/runs", f"/runs/{run}", f"/runs/{run}/steps"):
                body = any_problem(agent.request(verb, path))
                assert body["status"] == 405
