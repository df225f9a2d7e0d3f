"""A body that is too long gets its answer, also by clients that send before they read.

A refusal that is followed by a reset is no answer: the reset destroys what the client has
not read yet, and the host of a hook goes on without it.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.node.packages import NODE
from tests.support.builders import Robot
from tests.support.live import Live

MB = 1_000_000
SIZES = [int(size * MB) for size in (1.1, 2.5, 4, 8, 16, 32, 64)]
TRIES = 4
HOOK = "/api/v1/hooks/claude-code/PreToolUse"
SCRIPT = Path(__file__).with_name("post_bodies.mjs")

Answer = dict[str, Any]
Post = Callable[[str, str | None], Iterator[Answer]]


def post_by_node(url: str, key: str | None) -> Iterator[Answer]:
    """By Node's fetch, which is what Claude Code posts with."""
    sizes = [str(size) for size in SIZES]
    done = subprocess.run(
        [NODE, str(SCRIPT), url, key or "", str(TRIES), *sizes],
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )
    return map(json.loads, done.stdout.splitlines())


def post_then_read(url: str, key: str | None) -> Iterator[Answer]:
    """By a client that sends its whole body before it reads a byte."""
    parts = urlsplit(url)
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    for size in SIZES:
        body = b'"' + b"x" * size + b'"'
        for _ in range(TRIES):
            link = HTTPConnection(parts.hostname or "", parts.port, timeout=20)
            try:
                link.request("POST", parts.path, body, headers)
                answer = link.getresponse()
                document = json.loads(answer.read())
                yield {"size": size, "status": answer.status, "document": document}
            except OSError as error:
                yield {"size": size, "error": repr(error)}
            finally:
                link.close()


@pytest.fixture(params=[post_by_node, post_then_read], ids=["node", "python"])
def post(request: pytest.FixtureRequest) -> Post:
    found: Post = request.param
    return found


@pytest.mark.parametrize("known", [True, False], ids=["key", "stranger"])
def test_a_hook_of_any_size_is_denied(
    live: Live, robo: Robot, post: Post, known: bool
) -> None:
    answers = list(post(live.url + HOOK, robo.key if known else None))

    assert len(answers) == len(SIZES) * TRIES
    assert [answer for answer in answers if not _denies(answer)] == []


def test_a_body_over_the_limit_hears_why_it_was_refused(
    live: Live, robo: Robot, post: Post
) -> None:
    answers = list(post(f"{live.api}/runs", robo.key))

    assert len(answers) == len(SIZES) * TRIES
    assert [answer for answer in answers if answer.get("status") != 413] == []


def _denies(answer: Answer) -> bool:
    if answer.get("status") != 200:
        return False
    said = answer["document"]["hookSpecificOutput"]
    return bool(said["permissionDecision"] == "deny")
