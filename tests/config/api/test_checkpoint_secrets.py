"""A checkpoint's state comes back as it was saved, so a secret in it is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from typing import Any
from uuid import UUID

import httpx
import pytest
from checkrail import Checkrail, Invalid, Problem
from checkrail.testing import fake_checkrail
from django.core.management import call_command

from common.ids import uuid7
from guidance.core.canonical import hash_text, to_canonical_json
from ledger.models import Checkpoint, Entry, IdempotencyRecord, Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from tests.support.builders import Robot, start_run
from tests.support.live import Live
from tests.support.problems import problem
from tests.support.rows import each_row

pytestmark = pytest.mark.once("redacts text, not SQL")

GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
AWS = "AKIA" + "Q7RZ5T2WX4YB6NMD"
JWT = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
    "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6InJvYm8ifQ."
    "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
)
PEM = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEpAIBAAKCAQEA7bq3Zk1xV9hTt5r8ZQ2yLmNo\n" * 6
    + "-----END RSA PRIVATE KEY-----"
)
OURS = "crk_" + "Zk3Xq9Tt5r8Z" + "Q2yLmNo7bq3Zk1xV9hTt5r8ZQ2yLmNo4"

# What is saved, the place that is named, and what must appear nowhere.
SECRETS: dict[str, tuple[dict[str, Any], list[Any], str]] = {
    "AWS": ({"aws": {"id": AWS}}, ["state", "aws", "id"], AWS),
    "GitHub": ({"hosts": ["a", GITHUB]}, ["state", "hosts", 1], GITHUB),
    "JWT": ({"seen": f"Bearer {JWT}"}, ["state", "seen"], JWT[-20:]),
    "PEM": ({"files": {"id_rsa": PEM}}, ["state", "files", "id_rsa"], "MIIEpAIB"),
    "URL password": (
        {"db": "postgres://app:s3cr3tPw9@db.invalid/shop"},
        ["state", "db"],
        "s3cr3tPw9",
    ),
    "API_KEY=": (
        {"env": "DEBUG=1\nAPI_KEY=Zk3Xq9Tt5r8ZQ2yLmNo7\n"},
        ["state", "env"],
        "Zk3Xq9Tt5r8ZQ2yLmNo7",
    ),
    "our own": ({"key": OURS}, ["state", "key"], OURS),
    "by its name": (
        {"login": {"password": "correct7Horse"}},
        ["state", "login", "password"],
        "correct7Horse",
    ),
    "as a key": (
        {"by": {GITHUB: 1}},
        ["state", "by", "«github-token 40 chars»"],
        GITHUB,
    ),
}
CLEAN: dict[str, dict[str, Any]] = {
    "nothing": {},
    "counts": {"max_tokens": 4096, "token_count": 7, "password_reset": True},
    "references": {"api_key": "${OPENAI_API_KEY}", "key_name": "OPENAI_API_KEY"},
    "hashes": {
        "a.py": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    },
    "texts": {"plan": "Ask for the password, then refresh the token."},
}


@each_row("state, loc, hidden", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_refused_by_its_place_and_kept_nowhere(
    agent: httpx.Client, state: dict[str, Any], loc: list[Any], hidden: str
) -> None:
    run = start_run(agent)
    body = {"step": 0, "label": "before", "state": state}
    key = {"Idempotency-Key": str(uuid7())}

    answer = agent.post(f"/runs/{run}/checkpoints", json=body, headers=key)

    refusal = problem(answer, "invalid")
    assert loc in [error["loc"] for error in refusal["errors"]]
    assert "environment" in refusal["detail"]
    assert hidden not in answer.text
    assert agent.get(f"/runs/{run}/checkpoints/latest").status_code == 404
    assert not Checkpoint.objects.filter(run__code=run).exists()
    assert not IdempotencyRecord.objects.filter(key=key["Idempotency-Key"]).exists()
    assert Entry.objects.filter(run__code=run).count() == 1


@each_row("state", CLEAN.values(), ids=CLEAN)
def test_a_state_without_secrets_comes_back_as_it_was(
    agent: httpx.Client, state: dict[str, Any]
) -> None:
    run = start_run(agent)
    saved = agent.post(f"/runs/{run}/checkpoints", json={"step": 0, "state": state})

    assert saved.status_code == 201, saved.text
    assert agent.get(f"/runs/{run}/checkpoints/latest").json()["state"] == state


def test_a_state_that_cannot_be_read_to_its_end_is_refused(agent: httpx.Client) -> None:
    run = start_run(agent)
    state = {f"token_{n}": f"{'Zx81Kq9Tt5r8' * 2}{n}" for n in range(1_200)}

    answer = agent.post(f"/runs/{run}/checkpoints", json={"step": 0, "state": state})

    refusal = problem(answer, "invalid")
    assert len(refusal["errors"]) <= 100
    assert "Zx81Kq9Tt5r8" not in answer.text


def test_too_large_is_said_before_anything_is_looked_for(agent: httpx.Client) -> None:
    run = start_run(agent)
    state = {"key": GITHUB, "rest": "x" * 70_000}

    answer = agent.post(f"/runs/{run}/checkpoints", json={"step": 0, "state": state})

    assert "64 KiB" in problem(answer, "invalid")["detail"]


def saved_through(rail: Checkrail, state: dict[str, Any]) -> str | None:
    """What the refusal says; None where the state was saved."""
    with rail.run("Save") as run:
        try:
            run.checkpoint(state)
        except Invalid as refusal:
            return str(refusal)
    return None


def test_the_client_says_where_and_the_fake_agrees(live: Live, robo: Robot) -> None:
    for name, (state, loc, hidden) in SECRETS.items():
        place = ".".join(map(str, loc))
        with Checkrail(live.url, robo.key) as rail:
            told = saved_through(rail, state)
        with fake_checkrail(), Checkrail() as rail:
            faked = saved_through(rail, state)
        assert told is not None, name
        assert faked is not None, name
        assert place in told, name
        assert hidden not in told, name
        assert hidden not in faked, name
        if name != "as a key":  # the fake has no labels for hidden names
            assert place in faked, name
    for name, state in CLEAN.items():
        with fake_checkrail(), Checkrail() as rail:
            assert saved_through(rail, state) is None, name


def test_a_callback_that_returns_a_secret_ends_with_the_reason() -> None:
    with fake_checkrail(decisions=["checkpoint"]), Checkrail() as rail:
        run = rail.run("Save", on_checkpoint=lambda _: {"key": GITHUB})
        with pytest.raises(Problem, match=r"state\.key"):
            run.step(tokens=1)
        run.close()


@pytest.fixture
def old_state(agent: httpx.Client) -> Checkpoint:
    """A state with a secret, as servers took it before."""
    run = start_run(agent)
    clean = {"step": 0, "label": "old", "state": {"a": 1}}
    saved = agent.post(f"/runs/{run}/checkpoints", json=clean).json()
    state = {"a": 1, "env": {"GITHUB_TOKEN": GITHUB}}
    row = Checkpoint.objects.filter(code=UUID(saved["id"]))
    row.update(state=json.dumps(state))
    return row.get()


@pytest.fixture
def kept_answer(agent: httpx.Client) -> IdempotencyRecord:
    """An old state with a secret, and the answer that is kept for its key."""
    run = start_run(agent)
    body = {"step": 0, "label": "old", "state": {"a": 1, "token": "in the vault"}}
    key = {"Idempotency-Key": str(uuid7())}
    sent = agent.post(f"/runs/{run}/checkpoints", json=body, headers=key)
    code = sent.json()["id"]
    record = IdempotencyRecord.objects.get(body__contains=code)
    assert "in the vault" in record.body
    record.body = record.body.replace("in the vault", GITHUB)
    record.save()
    state = json.dumps({"a": 1, "token": GITHUB})
    Checkpoint.objects.filter(code=UUID(code)).update(state=state)
    return record


def run_audit(*options: str) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("checkpoint_secrets", *options, stdout=out, stderr=out)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue()
    return 0, out.getvalue()


def test_old_states_are_reported_and_left_alone(old_state: Checkpoint) -> None:
    code, said = run_audit("--run", str(old_state.run.code))

    assert code == 1
    assert str(old_state.code) in said
    assert "/env/GITHUB_TOKEN" in said
    assert GITHUB not in said
    assert GITHUB in Checkpoint.objects.get(pk=old_state.pk).state


def test_old_states_are_redacted_when_asked_and_the_ledger_says_so(
    old_state: Checkpoint,
) -> None:
    run = str(old_state.run.code)

    code, said = run_audit("--run", run, "--redact")

    assert (code, "1 redacted" in said) == (0, True)
    row = Checkpoint.objects.get(pk=old_state.pk)
    assert GITHUB not in row.state
    assert json.loads(row.state)["a"] == 1
    entry = Entry.objects.filter(run__code=run).latest("seq")
    assert (entry.type, entry.actor) == ("checkpoint.redacted", "system:operator")
    payload = json.loads(entry.payload)
    assert payload["checkpoint"] == str(row.code)
    assert payload["state_digest"] == hash_text(
        to_canonical_json(json.loads(row.state))
    )
    kept = Run.objects.get(code=run)
    assert verify_run(kept).ok
    assert replay_run(kept).difference is None
    assert run_audit("--run", run) == (0, "1 checkpoints, none holds a secret\n")


def test_an_ended_run_is_redacted_too(
    agent: httpx.Client, old_state: Checkpoint
) -> None:
    run = str(old_state.run.code)
    agent.post(f"/runs/{run}/finish", json={"outcome": "completed"})

    assert run_audit("--run", run, "--redact")[0] == 0

    kept = Run.objects.get(code=run)
    assert kept.status == "completed"
    assert kept.finished_at is not None
    assert kept.finished_at < datetime.now(UTC)
    assert replay_run(kept).difference is None


def test_an_answer_kept_for_its_key_is_redacted_with_the_state(
    kept_answer: IdempotencyRecord,
) -> None:
    answer = json.loads(kept_answer.body)

    assert run_audit("--run", answer["run"], "--redact")[0] == 0

    kept_answer.refresh_from_db()
    cleaned = json.loads(kept_answer.body)
    assert GITHUB not in kept_answer.body
    assert cleaned == {**answer, "state": cleaned["state"]}
    row = Checkpoint.objects.get(code=UUID(answer["id"]))
    assert cleaned["state"] == json.loads(row.state)
    assert run_audit("--run", answer["run"])[0] == 0


def test_a_secret_that_only_the_kept_answer_holds_is_found_and_redacted(
    kept_answer: IdempotencyRecord,
) -> None:
    answer = json.loads(kept_answer.body)
    clean = Checkpoint.objects.filter(code=UUID(answer["id"]))
    clean.update(state=json.dumps({"a": 1}))

    code, said = run_audit("--run", answer["run"])

    assert code == 1
    assert answer["id"] in said
    assert "/state/token" in said
    assert GITHUB not in said
    assert run_audit("--run", answer["run"], "--redact")[0] == 0
    kept_answer.refresh_from_db()
    assert GITHUB not in kept_answer.body
    assert run_audit("--run", answer["run"])[0] == 0
