"""Rows GW-01 to GW-19, GW-33 to GW-38, GW-40 and GW-43 to GW-46; budgets stand beside.

Answered otherwise than by the reference:
- GW-04: a stored result has no time of its own; it ends with its run and its policy.
- GW-08: the key stays inside; what an agent sees is the digest that its grant is for.
- GW-09: JSON knows no undefined; a key that is null is another call than one left out.
- GW-15: a policy's schema limits each text, not the sum of them.
- GW-33: a destructive command is put before a person, not refused.
- GW-36 and GW-37: no gate hides another; the order is that of the findings.
- GW-44: NaN is no JSON, so it is 400 malformed, not 422 (also in test_calls).
"""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from reviews.models import ToolCall
from tests.gateway.calls.calls import ask, claim, command, gates, rule, settle, tool
from tests.guidance.core.secrets.samples import body as drawn
from tests.support.builders import make_policy, start_run
from tests.support.problems import problem
from tests.support.rows import each_row

pytestmark = pytest.mark.once("judges calls, not SQL")

WRITE = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 1024},
        "mode": {"enum": ["create", "append"]},
        "lines": {"type": "integer"},
    },
    "required": ["path"],
    "additionalProperties": False,
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy(
        "reading",
        project=project,
        tools={"idempotent": ["Read", "Bash"], "schemas": {"Write": WRITE}},
    )
    return start_run(agent, policy="reading")


def run_tool(
    agent: httpx.Client, run: str, name: str = "Read", **arguments: Any
) -> dict[str, Any]:
    """A call that ran, and told what came of it."""
    call = tool(agent, run, name, **arguments)
    assert settle(agent, run, call, output={"text": "x = 1"}).status_code == 200
    return call


def test_gw_01_the_same_call_again_gets_the_stored_result(
    agent: httpx.Client, run: str
) -> None:
    first = run_tool(agent, run, path="a.py")
    again = tool(agent, run, "Read", path="a.py")
    assert again["replayed"] is True
    assert again["output"] == {"text": "x = 1"}
    assert again["id"] == first["id"]
    assert (again["decision"], again["grant"]) == ("allow", None)
    used = agent.get(f"/runs/{run}").json()["budget"]["tool_calls"]["used"]
    assert used == 1


def test_gw_02_and_03_other_arguments_or_another_tool_are_no_hit(
    agent: httpx.Client, run: str
) -> None:
    run_tool(agent, run, path="a.py")
    assert tool(agent, run, "Read", path="b.py")["replayed"] is False
    assert tool(agent, run, "List", path="a.py")["replayed"] is False


def test_gw_03_a_tool_that_is_not_declared_idempotent_runs_every_time(
    agent: httpx.Client, run: str
) -> None:
    run_tool(agent, run, "List", path="a")
    again = tool(agent, run, "List", path="a")
    assert (again["replayed"], again["output"]) == (False, None)
    assert again["grant"]


def test_gw_04_age_alone_ends_no_result(agent: httpx.Client, run: str) -> None:
    first = run_tool(agent, run, path="a.py")
    long_ago = timezone.now() - timedelta(days=365)
    ToolCall.objects.filter(code=first["id"]).update(
        judged_at=long_ago, settled_at=long_ago
    )
    assert tool(agent, run, "Read", path="a.py")["replayed"] is True


def test_gw_05_three_calls_stand_in_the_ledger_in_their_order(
    agent: httpx.Client, run: str
) -> None:
    for path in ("a", "b", "c"):
        tool(agent, run, "Read", path=path)
    lines = agent.get(f"/runs/{run}/ledger").text.splitlines()
    payloads = [json.loads(line)["payload"] for line in lines[1:]]
    assert [p["shown"]["arguments"]["path"] for p in payloads] == ["a", "b", "c"]


def test_gw_06_the_order_of_keys_does_not_matter_at_any_depth(
    agent: httpx.Client, run: str
) -> None:
    run_tool(agent, run, path="a", range={"from": 1, "to": 9})
    again = tool(agent, run, "Read", range={"to": 9, "from": 1}, path="a")
    assert again["replayed"] is True


@pytest.mark.parametrize(
    "other",
    [
        {"path": "a", "lines": [2, 1]},
        {"path": "a", "lines": ["1", "2"]},
        {"paths": "a", "lines": [1, 2]},
        {"path": "a", "lines": [1, 2], "all": False},
    ],
    ids=["order-of-a-list", "type", "name", "one-more"],
)
def test_gw_07_another_name_or_value_is_another_call(
    agent: httpx.Client, run: str, other: dict[str, Any]
) -> None:
    run_tool(agent, run, path="a", lines=[1, 2])
    assert tool(agent, run, "Read", **other)["replayed"] is False


def test_gw_08_keys_and_digests_are_64_hex_digits(
    agent: httpx.Client, run: str
) -> None:
    call = tool(agent, run, "Read", path="a")
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", call["digest"])
    key = ToolCall.objects.get(code=call["id"]).key
    assert re.fullmatch(r"[0-9a-f]{64}", key)


def test_gw_09_null_is_not_absent_and_no_arguments_are_an_empty_object(
    agent: httpx.Client, run: str
) -> None:
    run_tool(agent, run, path=None)
    assert tool(agent, run, "Read")["replayed"] is False
    run_tool(agent, run)
    assert ask(agent, run, kind="tool", tool="Read")["replayed"] is True
    raw = ask(agent, run, kind="tool", tool="Read", arguments_json="{ }")
    assert raw["replayed"] is True


@each_row(
    ("arguments", "path", "named"),
    [
        pytest.param({}, "", '"path"', id="GW-11"),
        pytest.param({"path": "a", "color": 1}, "", "color", id="GW-12"),
        pytest.param({"path": 5}, "/path", "string", id="GW-13"),
        pytest.param({"path": ["a"]}, "/path", "string", id="GW-14"),
        pytest.param({"path": "x" * 2000}, "/path", "1024", id="GW-15"),
        pytest.param({"path": "a", "mode": "drop"}, "/mode", "append", id="GW-16"),
    ],
)
def test_arguments_outside_of_the_schema_are_blocked(
    agent: httpx.Client, run: str, arguments: dict[str, Any], path: str, named: str
) -> None:
    call = tool(agent, run, "Write", **arguments)
    assert (call["decision"], gates(call)) == ("block", ["schema"])
    (finding,) = call["findings"]
    assert finding["details"]["path"] == path
    assert named in finding["message"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        pytest.param("Write", {"path": "a", "lines": 3}, id="GW-10"),
        pytest.param("Write", {"path": "a", "mode": "append"}, id="GW-17"),
        pytest.param("Other", {"anything": ["goes", {"here": None}]}, id="GW-18"),
    ],
)
def test_arguments_inside_of_it_are_allowed(
    agent: httpx.Client, run: str, name: str, arguments: dict[str, Any]
) -> None:
    assert tool(agent, run, name, **arguments)["decision"] == "allow"


def test_gw_19_all_errors_are_told_and_the_call_never_runs(
    agent: httpx.Client, run: str
) -> None:
    call = tool(agent, run, "Write", mode="drop", lines="3", color=1)
    assert gates(call) == ["schema"] * 4
    assert call["grant"] is None
    assert claim(agent, run, call).status_code == 403


def test_gw_33_a_destructive_command_is_put_before_a_person(
    agent: httpx.Client, run: str
) -> None:
    call = command(agent, run, "rm -rf /srv", arguments={"command": "rm -rf /srv"})
    assert (call["decision"], gates(call)) == ("require-confirmation", ["destructive"])


def test_gw_34_to_37_every_gate_speaks_in_the_same_order(
    agent: httpx.Client, project: Project
) -> None:
    make_policy(
        "strict",
        project=project,
        tools={
            "allowlist": {"enabled": True, "tools": ["Read"]},
            "schemas": {"Write": WRITE},
            "patterns": [{"name": "own", "pattern": "moon", "message": "No moons"}],
        },
    )
    run = start_run(agent, policy="strict", budget={"tool_calls": 1})
    assert gates(tool(agent, run, "Bash")) == ["allowlist"]
    token = "gh" + "p_" + drawn(36)
    assert gates(tool(agent, run, "Read", header=token)) == ["secrets"]
    tool(agent, run, "Read")
    call = tool(agent, run, "Write", command="rm -rf moon", note=token, path="a")
    assert call["decision"] == "block"
    assert list(dict.fromkeys(gates(call))) == [
        "schema",
        "budget",
        "destructive",
        "allowlist",
        "patterns",
        "secrets",
    ]


@pytest.mark.parametrize(
    "body",
    [{}, {"arguments": {}}, {"arguments": None}, {"arguments_json": "null"}],
    ids=["none", "empty", "null", "null-as-text"],
)
def test_gw_38_empty_or_null_arguments_are_allowed(
    agent: httpx.Client, run: str, body: dict[str, Any]
) -> None:
    assert ask(agent, run, kind="tool", tool="T", **body)["decision"] == "allow"


def test_gw_40_a_stored_result_is_no_way_around_the_budget(
    agent: httpx.Client, run: str
) -> None:
    poor = start_run(agent, policy="reading", budget={"tool_calls": 1})
    run_tool(agent, poor, path="a")
    over = tool(agent, poor, "Read", path="a")
    assert (over["decision"], gates(over)) == ("block", ["budget"])
    assert (over["replayed"], over["output"]) == (False, None)


def test_gw_40_nor_around_a_person(
    agent: httpx.Client, run: str, reviewer: httpx.Client
) -> None:
    call = tool(agent, run, "Bash", command="rm -rf build")
    rule(reviewer, call, "approve")
    settle(agent, run, call, output="gone")
    again = tool(agent, run, "Bash", command="rm -rf build")
    assert (again["decision"], again["replayed"]) == ("require-confirmation", False)


def test_gw_40_nor_around_a_new_policy(
    agent: httpx.Client, run: str, project: Project
) -> None:
    """A run keeps its policy to its end; the next one is judged by the new one."""
    run_tool(agent, run, path="a")
    make_policy("reading", project=project, tools={"allowlist": {"enabled": True}})
    assert tool(agent, run, "Read", path="a")["replayed"] is True
    later = start_run(agent, policy="reading")
    denied = tool(agent, later, "Read", path="a")
    assert (denied["decision"], gates(denied)) == ("block", ["allowlist"])


def test_gw_43_a_failed_result_is_never_replayed(agent: httpx.Client, run: str) -> None:
    call = tool(agent, run, "Read", path="a")
    settle(agent, run, call, ok=False, output={"error": "boom"})
    assert tool(agent, run, "Read", path="a")["replayed"] is False


def test_gw_43_nor_one_that_could_not_be_kept_whole(
    agent: httpx.Client, run: str
) -> None:
    token = "gh" + "p_" + drawn(36)
    settle(agent, run, tool(agent, run, "Read", path="a"), output=f"key {token}")
    again = tool(agent, run, "Read", path="a")
    assert (again["replayed"], again["output"]) == (False, None)
    assert token not in agent.get(f"/runs/{run}/ledger").text


def test_gw_44_a_duration_that_is_no_number_is_refused(
    agent: httpx.Client, run: str
) -> None:
    call = tool(agent, run, "Read")
    answer = agent.post(
        f"/runs/{run}/tool-calls/{call['id']}/result",
        content='{"ok": true, "duration_ms": NaN}',
        headers={"Content-Type": "application/json"},
    )
    problem(answer, "malformed")
    assert settle(agent, run, call, duration_ms=5).status_code == 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "rm -rf /"},
        {"cmd": ["rm", "-rf", "/"]},
        {"steps": [{"script": "cd / && rm -rf *"}]},
    ],
    ids=["text", "words", "deep"],
)
def test_gw_45_a_command_in_the_arguments_alone_is_seen(
    agent: httpx.Client, run: str, arguments: dict[str, Any]
) -> None:
    call = tool(agent, run, "AnyTool", **arguments)
    assert (call["decision"], gates(call)) == ("require-confirmation", ["destructive"])


def test_gw_46_another_run_knows_nothing_of_the_result(
    agent: httpx.Client, run: str
) -> None:
    run_tool(agent, run, path="a")
    other = start_run(agent, policy="reading")
    assert tool(agent, other, "Read", path="a")["replayed"] is False
