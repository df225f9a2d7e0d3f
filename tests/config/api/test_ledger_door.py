"""GET /runs/{run}/ledger and /verify: the chain, to be checked by anybody."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import httpx

from tests.support.builders import Person, Robot, pause_run, start_run, step
from tests.support.people import rule

FIELDS = {
    *("seq", "at", "type", "actor", "payload", "payload_sha256", "prev_hash", "hash")
}


def entries(client: httpx.Client, run: str) -> list[dict[str, Any]]:
    answer = client.get(f"/runs/{run}/ledger")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.text.endswith("\n")
    return [json.loads(line) for line in answer.text.splitlines()]


def test_the_chain_tells_the_whole_story(
    agent: httpx.Client,
    reviewer: httpx.Client,
    robo: Robot,
    bob: Person,
) -> None:
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    rule(reviewer, review, "approve")
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    chain = entries(agent, run)

    assert [entry["type"] for entry in chain] == [
        "run.started",
        *["step.judged"] * 5,
        "review.opened",
        "review.ruled",
        "run.finished",
    ]
    robot = f"agent:{robo.principal.agent_code}"
    assert chain[0]["actor"] == chain[1]["actor"] == chain[-1]["actor"] == robot
    assert chain[6]["actor"] == "system:continue-gate"
    assert chain[7]["actor"] == f"user:{bob.user.code}"
    assert chain[7]["payload"]["review"] == review
    assert reviewer.get(f"/runs/{run}/ledger").content == (
        agent.get(f"/runs/{run}/ledger").content
    )


def test_every_line_can_be_verified_with_nothing_but_sha_256(
    agent: httpx.Client,
) -> None:
    run = start_run(agent, task="é\u2028\U0001f600 \u202e")
    for number in (1, 2, 3):
        agent.post(f"/runs/{run}/steps", json=step(number, coherence=0.5))

    lines = agent.get(f"/runs/{run}/ledger").content.split(b"\n")[:-1]

    before = "0" * 64
    for number, raw in enumerate(lines, start=1):
        entry = json.loads(raw)
        assert set(entry) >= FIELDS
        assert entry["seq"] == number
        assert entry["prev_hash"] == before
        start = raw.index(b'"payload":') + len(b'"payload":')
        payload = raw[start : raw.rindex(b',"payload_sha256"')]
        assert hashlib.sha256(payload).hexdigest() == entry["payload_sha256"]
        form = b"".join(
            len(field.encode()).to_bytes(4, "big") + field.encode()
            for field in (
                "checkrail.entry",
                str(entry["v"]),
                run,
                str(entry["seq"]),
                entry["at"],
                entry["type"],
                entry["actor"],
                entry["payload_sha256"],
                entry["prev_hash"],
            )
        )
        assert hashlib.sha256(form).hexdigest() == entry["hash"]
        before = entry["hash"]
    assert before == agent.get(f"/runs/{run}").json()["head"]["hash"]


def test_receipts_point_at_their_entries(agent: httpx.Client) -> None:
    run = start_run(agent)
    receipts = [
        agent.post(f"/runs/{run}/steps", json=step(number)).json()["receipt"]
        for number in (1, 2, 3)
    ]

    chain = {entry["seq"]: entry["hash"] for entry in entries(agent, run)}

    for receipt in receipts:
        assert chain[receipt["seq"]] == receipt["hash"]


def test_a_long_chain_comes_whole(agent: httpx.Client) -> None:
    run = start_run(agent)
    for first in range(1, 1101, 100):
        steps = [step(n, checkpoint=True, tokens=1) for n in range(first, first + 100)]
        agent.post(f"/runs/{run}/steps/batch", json={"steps": steps})

    chain = entries(agent, run)

    assert [entry["seq"] for entry in chain] == list(range(1, 1102))


def test_a_whole_chain_verifies(agent: httpx.Client, reviewer: httpx.Client) -> None:
    run = start_run(agent)
    agent.post(f"/runs/{run}/steps", json=step(1))

    body = agent.get(f"/runs/{run}/verify").json()

    assert body["ok"] is True
    assert body["entries"] == 2
    assert body["first_bad_seq"] is None
    assert body["head"] == agent.get(f"/runs/{run}").json()["head"]
    assert reviewer.get(f"/runs/{run}/verify").json() == body
