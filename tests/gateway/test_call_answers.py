"""The answer to a call is written from what its entry was: the same text, byte for byte."""

from __future__ import annotations

import json

import httpx

from accounts.models import Project
from common.responses import to_json
from gateway.use_cases.answers.calls import build_call_answer
from ledger.models import Entry, Run
from tests.support.builders import start_run
from tests.support.rows import each_row

EDITS = {
    "kind": "multi_edit",
    "tool": "MultiEdit",
    "file_path": "a.py",
    "original": "x = 1\n",
    "edits": [{"old": "1", "new": "2"}],
}


@each_row(
    "body",
    [
        {"kind": "command", "tool": "Bash", "command": "pytest -q | tail"},
        {"kind": "command", "tool": "Bash", "command": "rm -rf /srv/données"},
        {"kind": "command", "tool": "Bash", "command": "ls", "confirm": True},
        {"kind": "tool", "tool": "t", "arguments_json": '{"a": 1e-7, "b":'},
        {"kind": "tool", "tool": "pay", "arguments": {"amount": 1e-7, "é": '"\\'}},
        EDITS,
    ],
)
def test_an_answer_is_the_same_from_its_entry(
    agent: httpx.Client, body: dict[str, object]
) -> None:
    code = start_run(agent)

    answer = agent.post(f"/runs/{code}/tool-calls", json=body)

    assert answer.status_code == 201, answer.text
    run = Run.objects.get(code=code)
    entry = Entry.objects.get(run=run, type="call.judged")
    again = build_call_answer(
        run=code,
        project_slug=Project.objects.get(pk=run.project_id).slug,
        payload=json.loads(entry.payload),
        receipt={"seq": entry.seq, "hash": entry.hash},
    )
    assert answer.text == to_json(again)
