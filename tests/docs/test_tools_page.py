"""What docs/tools.md and the calls of docs/api.md say is what the code does."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest
import yaml

from accounts.models import Project
from gateway.use_cases.call_requests import OPEN_CONFIRMATIONS
from guidance.core.policy import load_policy
from guidance.core.review_limit import GATE
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.rule import DESTRUCTIVE, FAMILIES
from guidance.core.tools.calls import CommandCall
from guidance.core.tools.gates import ENFORCEMENT_GATES, INPUT_GATES
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.permission_shapes import build_shape_text
from guidance.core.tools.section import ToolRules
from guidance.core.vocabulary import CALL_DECISIONS
from tests.docs.markdown import blocks, code, read_page, table_under
from tests.gateway.calls.calls import ask, claim, command, rule, settle
from tests.guidance.core.policy.dumps import dump_part
from tests.support.builders import make_policy, start_run

# Their findings name the family of their rule instead.
_BY_FAMILY = ("destructive", "families")
TOOLS, API = read_page("docs/tools.md"), read_page("docs/api.md")


def requests(text: str) -> list[tuple[str, dict[str, Any]]]:
    """The POSTs of a page: path and body."""
    found = (block.split("\n", 1) for block in blocks(text, language="http"))
    return [
        (line.removeprefix("POST "), json.loads(body))
        for line, body in found
        if line.startswith("POST ")
    ]


def test_every_gate_is_listed_in_its_order() -> None:
    rows = table_under(TOOLS, first_column="gate")
    listed = list(dict.fromkeys(code(row[0]) for row in rows))
    families = [name for name in FAMILIES if name in {r.family for r in RULES.values()}]
    enforcing = [name for name in ENFORCEMENT_GATES if name not in _BY_FAMILY]
    gates = [
        *INPUT_GATES,
        "budget",
        GATE,
        *families,
        *enforcing,
        "secrets",
        "permission",
    ]
    assert listed == gates


def test_every_rule_of_a_family_is_described() -> None:
    rows = table_under(TOOLS, first_column="rule")
    assert [
        [code(row[0]), code(row[1]), row[2], code(row[3]), row[4]] for row in rows
    ] == [
        [rule.name, rule.family, rule.severity, rule.decision, rule.message]
        for rule in RULES.values()
        if rule.family != DESTRUCTIVE
    ]


def test_every_rule_is_listed() -> None:
    rows = table_under(TOOLS, first_column="about")
    listed = [name for row in rows for name in re.findall("`([a-z-]+)`", row[1])]
    assert listed == list(RULES)


def test_every_key_of_the_policy_is_listed() -> None:
    rows = table_under(TOOLS, first_column="key")
    assert [code(row[0]) for row in rows] == list(dump_part(ToolRules()))


def test_the_policy_example_is_one(agent: httpx.Client, project: Project) -> None:
    (example,) = blocks(TOOLS, language="yaml")
    document = yaml.safe_load(example)
    assert set(document["tools"]) <= set(dump_part(ToolRules()))
    load_policy(document)
    make_policy("example", project=project, **document)
    run = start_run(agent, policy="example")
    assert command(agent, run, "ls production")["findings"][0]["gate"] == "patterns"
    refused = ask(agent, run, kind="tool", tool="mcp__db__query", arguments={})
    assert refused["decision"] == "block"


def test_the_finding_is_a_real_one() -> None:
    (example,) = blocks(TOOLS, language="json")
    call = CommandCall(tool="Bash", command="sudo rm -rf build")
    verdict = judge_call(rules=ToolRules(), call=call, fingerprint_key=b"x")
    assert [json.loads(example)] == verdict.to_json()["findings"]


def test_the_shapes_are_as_the_page_says() -> None:
    said = " ".join(TOOLS.partition("## Standing permissions")[2].split())
    for name, other in (
        ("build-101", "build-102"),
        ("release.2024", "release.2025"),
        ("web-7f9c4d8b", "web-0a1b2c3d"),
        ("/srv/releases/20240131", "/srv/releases/20250131"),
    ):
        assert f"`{name}`" in said
        assert _shape(f"rm -rf {name}") == _shape(f"rm -rf {other}")
    assert "`chmod 755` is not `chmod 777`" in said
    assert _shape("chmod 755 x-1") != _shape("chmod 777 x-1")
    for sign in ("chr(", "{1..9}"):
        assert f"`{sign}`" in said
        assert _shape(f"rm -rf build-1 {sign}") is None


def _shape(text: str) -> str | None:
    return build_shape_text(CommandCall(tool="Bash", command=text))


def test_the_digest_can_be_computed(agent: httpx.Client) -> None:
    (example,) = blocks(TOOLS, language="python")
    names: dict[str, Any] = {}
    exec(example, names)  # noqa: S102 (our own page)
    run = start_run(agent)
    edits = [{"old": "ä", "new": "b", "replace_all": False}]
    calls: list[dict[str, Any]] = [
        {"kind": "command", "tool": "Bash", "command": "echo 'ä ' \u2028"},
        {"kind": "tool", "tool": "look", "arguments": {"b": [1, 2.5], "a": None}},
        {"kind": "edit", "tool": "Edit", "file_path": "a", "content": "x\n"},
        {
            "kind": "multi_edit",
            "tool": "MultiEdit",
            "file_path": "a",
            "original": "ä\n",
            "edits": edits,
        },
    ]
    for call in calls:
        told = ask(agent, run, **call)["digest"]
        counted = {"diff_lines": 1} if call["kind"] == "edit" else {}
        assert names["digest"](run, **call, **counted) == told


def test_the_limits_are_the_real_ones() -> None:
    assert f"At most {OPEN_CONFIRMATIONS} calls" in TOOLS
    assert "(ten minutes, unless" in API
    assert ToolRules().grant_expires_s == 600


def test_every_decision_on_a_call_is_listed() -> None:
    rows = table_under(API, first_column="call decision")
    assert [code(row[0]) for row in rows] == list(reversed(CALL_DECISIONS))


def test_the_calls_of_the_api_page_can_be_sent(agent: httpx.Client) -> None:
    run = start_run(agent)
    sent = [
        (path, agent.post(path.replace("{run}", run), json=body))
        for path, body in requests(API)
        if path.endswith("/tool-calls") or path.startswith("/evaluate/")
    ]
    assert len(sent) == 8
    for path, answer in sent:
        assert answer.status_code == (201 if "{run}" in path else 200), answer.text


@pytest.mark.parametrize("action", ["amend", "approve"])
def test_the_rulings_of_the_api_page_can_be_given(
    agent: httpx.Client, reviewer: httpx.Client, action: str
) -> None:
    bodies = dict(requests(API))  # the last body of each path
    (body,) = (
        body
        for path, body in requests(API)
        if path.endswith("/ruling")
        and body["action"] == action
        and {"amended", "remember"} & body.keys()
    )
    run = start_run(agent)
    call = command(agent, run)
    more = {
        name: body[name] for name in ("amended", "remember", "note") if name in body
    }
    ruled = rule(reviewer, call, action, **more)
    assert ruled.status_code == 200, ruled.text
    ruling = agent.get(f"/runs/{run}/decision?review={call['review']['id']}").json()[
        "ruling"
    ]
    digest = ruling["amended"]["digest"] if action == "amend" else call["digest"]
    assert claim(agent, run, call, digest).status_code == 200
    told = bodies["/runs/{run}/tool-calls/{call}/result"]
    assert settle(agent, run, call, **told).status_code == 200
