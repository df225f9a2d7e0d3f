"""A secret that an agent sends is nowhere afterwards: M74, M76, P36."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection
from websockets.sync.client import connect
from websockets.typing import Origin

from accounts.models import Project
from config.logging import OneLineFormatter
from tests.browser.sessions import session_cookie
from tests.conftest import client_for
from tests.gateway.calls.calls import ask, command, gates, settle, tool
from tests.support.builders import Person, Robot, start_run, step
from tests.support.live import Live
from tests.support.processes import manage, up

# Characters that no hash, id or word of ours is made of.
BODY = "xQzWkVyTgHjRpLmNuYwXzKqJvGtPsRyHnMzL"
TOKEN = f"ghp_{BODY}"
PASSWORD = "wXq7ZkJ9vY"
WINDOW = 5


def traces(text: str) -> list[str]:
    """Every piece of the secrets that stands in the text."""
    pieces = [
        secret[at : at + WINDOW]
        for secret in (BODY, PASSWORD)
        for at in range(len(secret) - WINDOW + 1)
    ]
    return [piece for piece in pieces if piece in text]


def tell_everywhere(agent: httpx.Client) -> Iterator[str]:
    """Every door an agent can put a secret into; yields what it is answered."""
    labels = {"k": f"password={PASSWORD}"}
    run = start_run(agent, task=f"Use {TOKEN}", labels=labels, model=TOKEN)
    body = {"kind": "edit", "file_path": f"/home/{TOKEN}", "content": "x"}
    calls = [
        command(agent, run, f"curl -H 'Authorization: Bearer {TOKEN}' example.org"),
        command(agent, run, f"mysql -p{PASSWORD} -e 'DROP TABLE users'"),
        tool(agent, run, "Write", content=f'password = "{PASSWORD}"'),
        tool(agent, run, "Write", **{TOKEN: "in a key"}),
        ask(agent, run, kind="tool", tool="T", arguments_json=f'{{"a": "{TOKEN}"'),
        ask(agent, run, **body),
        ask(agent, run, **{**body, "file_path": "a", "content": f"k = '{TOKEN}'"}),
        ask(
            agent,
            run,
            kind="multi_edit",
            file_path=".env",
            original=f"A=1\nDB_PASSWORD={PASSWORD}\n",
            edits=[{"old": "A=1", "new": "A=2"}],
        ),
    ]
    yield from map(json.dumps, calls)
    granted = calls[-1]
    assert granted["decision"] == "allow"
    yield settle(agent, run, granted, output={"env": f"TOKEN={TOKEN}"}).text
    summary = step(1, summary=f"Found {TOKEN}", signature=f"bash:-p {TOKEN}")
    yield agent.post(f"/runs/{run}/steps", json=summary).text
    saved = {"step": 0, "label": TOKEN}
    key = {"Idempotency-Key": TOKEN}
    yield agent.post(f"/runs/{run}/checkpoints", json=saved, headers=key).text
    gate = {"id": "own", "name": TOKEN, "criteria": [f"uses {TOKEN}"]}
    check = agent.post(f"/runs/{run}/gate-checks", json={"step": 0, "inline": [gate]})
    yield check.text
    path = f"/runs/{run}/gate-checks/{check.json()['id']}/verdicts"
    yield agent.post(path, json={"text": f"FAIL - found {TOKEN}"}).text
    for where in ("", "/ledger", "/verify"):
        yield agent.get(f"/runs/{run}{where}").text
    asked = {"kind": "question", "title": f"Is {TOKEN} right?", "detail": TOKEN}
    yield agent.post(f"/runs/{run}/reviews", json=asked).text
    for bad in (
        {"kind": TOKEN},
        {"kind": "tool", "tool": TOKEN + "\u202e"},
        {"kind": "command", "command": "ls", TOKEN: 1},
    ):
        yield agent.post(f"/runs/{run}/tool-calls", json=bad).text


def test_a_call_with_a_secret_is_blocked_and_says_where(agent: httpx.Client) -> None:
    run = start_run(agent)
    call = command(agent, run, f"deploy --token {TOKEN}")
    assert (call["decision"], gates(call)) == ("block", ["secrets"])
    details = call["findings"][0]["details"]
    assert details["argument"] == "/command"
    assert str(len(TOKEN)) in details["redacted"]
    assert call["digest"].startswith("hmac-")


def test_two_secrets_look_different_and_one_looks_the_same(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)

    def shown(secret: str) -> str:
        call = command(agent, run, f"deploy --token {secret}")
        label: str = call["findings"][0]["details"]["redacted"]
        return label

    assert shown(TOKEN) == shown(TOKEN) != shown(TOKEN[:-4] + "AbCd")


def test_a_secret_that_an_edit_takes_away_is_no_reason_to_block(
    agent: httpx.Client,
) -> None:
    run = start_run(agent)
    call = ask(
        agent,
        run,
        kind="multi_edit",
        file_path=".env",
        original=f"PASSWORD={PASSWORD}\n",
        edits=[{"old": f"PASSWORD={PASSWORD}", "new": "PASSWORD=$VAULT"}],
    )
    assert call["decision"] == "allow"
    assert traces(json.dumps(call)) == []


def test_nothing_of_it_is_in_the_database_the_pushes_or_the_logs(
    live: Live, robo: Robot, bob: Person, project: Project, caplog: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    cookie = f"{settings.SESSION_COOKIE_NAME}={session_cookie(bob.user)}"
    address = live.url.replace("http", "ws", 1)
    with (
        connect(
            f"{address}/ws/p/{project.slug}/queue/",
            additional_headers={"Cookie": cookie},
            origin=Origin(live.url),
        ) as socket,
        client_for(live, robo) as agent,
    ):
        socket.send(json.dumps({"type": "resume", "since": 0}))
        answers = list(tell_everywhere(agent))
        pushed = [str(socket.recv(timeout=60))]
        while True:
            try:
                pushed.append(str(socket.recv(timeout=1)))
            except TimeoutError:
                break
    assert pushed, "the question was pushed"
    assert traces("".join(pushed)) == []
    for answer in answers:
        assert traces(answer) == []
    assert traces(stored_text(project)) == []
    format_line = OneLineFormatter().format
    assert traces("".join(map(format_line, caplog.records))) == []


def stored_text(project: Project) -> str:
    """Every row of every table that knows this project or its runs."""
    tables = {
        "ledger_run": "project_id = %s",
        "ledger_entry": "project_id = %s",
        "reviews_review": "project_id = %s",
        "reviews_toolcall": "project_id = %s",
        "reviews_permission": "project_id = %s",
        "reviews_gatecheck": "project_id = %s",
        "reviews_advisorywarning": "0 <> %s",
        "ledger_idempotencyrecord": "0 <> %s",
    }
    rows = []
    with connection.cursor() as cursor:
        for table, where in tables.items():
            cursor.execute(f"SELECT * FROM {table} WHERE {where}", [project.pk])
            rows += cursor.fetchall()
    assert len(rows) > 10
    return "\n".join(map(str, rows))


@pytest.mark.timeout(120)
def test_nothing_of_it_is_in_the_embedded_servers_files_or_its_output(
    database: None, tmp_path: Path
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The embedded profile is on SQLite.")
    key = ("agent_key", "robo", "--project", "p", "--json")
    with up(tmp_path) as server:
        made = manage(*key, CHECKRAIL_DATA=str(tmp_path))
        robot = Robot(name="robo", key=json.loads(made.stdout)["key"])
        with client_for(server.live, robot) as agent:
            assert len(list(tell_everywhere(agent))) > 10
        files = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert any(path.name.endswith("-wal") for path in files)
        for path in files:  # while it runs: the write-ahead log is there, too
            assert traces(path.read_bytes().decode("latin-1")) == [], path
        printed = server.stop()
    assert traces(printed) == []
    for path in tmp_path.rglob("*.sqlite3"):
        assert traces(path.read_bytes().decode("latin-1")) == []
