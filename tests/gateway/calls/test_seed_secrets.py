"""Rows EG-18 to EG-25 and EG-37 to EG-40: secrets, through the doors that keep nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.conftest import client_for
from tests.gateway.calls.calls import gates, judge
from tests.guidance.core.secrets.samples import body, jwt, pem
from tests.support.builders import make_policy, make_project, make_robot
from tests.support.live import Live
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges texts and requests; nothing it asks is kept")

PASSWORD = "hun" + "ter2"


@pytest.fixture(scope="module")
def agent(live: Live) -> Iterator[httpx.Client]:
    project = make_project()
    make_policy("none", project=project, tools={"allowlist": {"enabled": True}})
    with client_for(live, make_robot(project=project)) as client:
        yield client


QUOTED = 'const key = "s' + 'k-abc123def456ghi789jkl012mno345";'
NAMED = 'password = "' + "super-secret-" + 'password-123"'


@each_row(
    ("text", "kinds"),
    [
        pytest.param(QUOTED, ["openai-key"], id="EG-18"),
        pytest.param(NAMED, ["password"], id="EG-19"),
        pytest.param(pem("RSA "), ["private-key"], id="EG-20"),
        pytest.param("gh" + "p_" + body(36), ["github-token"], id="EG-21"),
        pytest.param("AK" + "IA" + "IOSFODNN7SAMPLED", ["aws-access-key"], id="EG-22"),
        pytest.param("This function adds two numbers.", [], id="EG-23"),
        pytest.param("const key = process.env.API_KEY;", [], id="EG-24"),
        pytest.param("task-" + "abcdefghijklmnopqrstuvwxyz", [], id="EG-39-task"),
        pytest.param("disk-" + "abcdefghijklmnopqrstuvwxyz", [], id="EG-39-disk"),
        pytest.param("risk-" + "abcdefghijklmnopqrstuvwxyz", [], id="EG-39-risk"),
        pytest.param('passwd="${DB_PASSWORD}"', [], id="a-reference"),
        pytest.param('password = "<your password>"', [], id="a-placeholder"),
    ],
)
def test_secrets_in_a_file(agent: httpx.Client, text: str, kinds: list[str]) -> None:
    answer = judge(agent, "edit", file_path="a.js", content=text)
    assert answer["decision"] == ("block" if kinds else "allow")
    assert [f["details"]["kind"] for f in answer["findings"]] == kinds


def test_eg_25_only_masked_forms_are_reported(agent: httpx.Client) -> None:
    token = "gh" + "p_" + body(36)
    answer = agent.post("/evaluate/command", json={"command": f"echo {token}"})
    assert gates(answer.json()) == ["secrets"]
    for at in range(4, len(token) - 4):
        assert token[at : at + 5] not in answer.text


MISSED_SECRETS: dict[str, str] = {
    "unquoted": f"password={PASSWORD}",
    "exported": f"export API_KEY={body(24)}",
    "yaml": f"password: {PASSWORD}",
    "json": f'{{"password": "{PASSWORD}"}}',
    "secret-key": f'secret_key = "{PASSWORD}"',
    "db-pass": f"db_pass={PASSWORD}",
    "address": f"postgres://bob:{PASSWORD}@db/x",
    "curl-user": f"curl -u bob:{PASSWORD} https://example.org",
    "bearer": f"Authorization: Bearer {body(24)}",
    "jwt": jwt(),
    "openssh": pem("OPENSSH "),
    "encrypted": pem("ENCRYPTED "),
    "pgp": pem("PGP ", block=" BLOCK"),
    "sk-proj": "s" + "k-proj-" + body(40),
    "sk-ant": "s" + "k-ant-api03-" + body(40),
    "sk-live": "sk" + "_live_" + body(24),
    "gho": "gh" + "o_" + body(36),
    "ghs": "gh" + "s_" + body(36),
    "github-pat": "git" + "hub_pat_" + body(22) + "_" + body(59),
    "glpat": "gl" + "pat-" + body(20),
    "asia": "AS" + "IA" + "ABCDEFGHIJKLMNOP",
    "aws-secret": f"AWS_SECRET_ACCESS_KEY={body(40)}",
    "slack": "xo" + "xb-" + body(12, "0123456789") + "-" + body(24),
    "google": "AI" + "za" + body(35),
    "hugging-face": "h" + "f_" + body(34),
    "pypi": "py" + "pi-" + body(60),
    "sendgrid": "S" + "G." + body(22) + "." + body(43),
}


@each_row("name", MISSED_SECRETS)
def test_eg_37_what_the_reference_missed(agent: httpx.Client, name: str) -> None:
    text = MISSED_SECRETS[name]
    for door, more in (
        ("command", {"command": f"echo '{text}'"}),
        ("tool", {"tool": "Write", "arguments": {"content": text}}),
        ("edit", {"file_path": "a", "content": text}),
        ("multi-edit", _writing(text)),
    ):
        answer = judge(agent, door, **more)
        assert answer["decision"] == "block", door
        assert "secrets" in gates(answer)


def _writing(text: str) -> dict[str, Any]:
    return {"file_path": "a", "original": "", "edits": [{"old": "", "new": text}]}


@each_row(
    "arguments",
    [
        {"content": f'password = "{PASSWORD}"'},
        {"password": PASSWORD},
        {"api_key": body(32)},
        {"a": [{"b": {"content": f'const token = "{body(32)}"'}}]},
        {"old": "gh" + "p_" + body(36)},
        {"gh" + "p_" + body(36): 1},
    ],
    ids=["text", "key", "weaker-key", "deep", "argument-called-old", "in-a-key"],
)
def test_eg_38_secrets_inside_arguments(
    agent: httpx.Client, arguments: dict[str, Any]
) -> None:
    answer = judge(agent, "tool", tool="Write", arguments=arguments)
    assert (answer["decision"], gates(answer)) == ("block", ["secrets"])


@each_row(
    ("door", "form"),
    [
        ("command", {"command": "rm -rf §; export DB_PASSWORD=§"}),
        ("tool", {"tool": "X", "arguments": {"password": "§", "again": ["(§)"]}}),
        ("tool", {"tool": "X", "arguments": {"password=§": {"path": "§"}}}),
        ("tool", {"tool": "X", "arguments_json": '{"password": "§", "b": "x'}),
        ("tool", {"tool": "password=§", "policy": "none"}),
        ("edit", {"file_path": "§", "content": 'password="§"'}),
        ("multi-edit", _writing("password: §")),
    ],
    ids=["command", "value", "key", "broken", "tool", "edit", "multi-edit"],
)
def test_eg_40_nothing_of_a_short_password_is_shown_anywhere(
    agent: httpx.Client, door: str, form: dict[str, Any]
) -> None:
    secret = "q7" + "Zx"

    def filled(part: Any) -> Any:
        if isinstance(part, str):
            return part.replace("§", secret)
        if isinstance(part, dict):
            return {filled(key): filled(value) for key, value in part.items()}
        return [filled(item) for item in part] if isinstance(part, list) else part

    answer = agent.post(f"/evaluate/{door}", json=filled(form))
    assert answer.json()["decision"] == "block", answer.text
    assert "secrets" in gates(answer.json())
    for length in (2, 3, 4):
        for at in range(len(secret) - length + 1):
            assert secret[at : at + length] not in answer.text
