"""Calls that are lawful and strange: many findings, long labels, several rules at once."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from tests.gateway.calls.calls import ask, claim, command, gates, rule, settle, tool
from tests.support.builders import make_policy, start_run

pytestmark = pytest.mark.once("judges calls, not SQL")


def test_what_decides_is_told_among_more_findings_than_are_told(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    make_policy(
        "own",
        project=project,
        tools={
            "patterns": [
                {"name": "w", "pattern": "w", "decision": "warn", "message": "A w"},
                {"name": "c", "pattern": "c", "message": "A c"},
            ]
        },
    )
    run = start_run(agent, policy="own")
    call = tool(agent, run, "T", words=["w"] * 150 + ["c"])
    assert call["decision"] == "require-confirmation"
    assert len(call["findings"]) == 100
    assert call["findings"][-1]["message"] == "A c"
    review = reviewer.get(f"/reviews/{call['review']['id']}").json()
    assert review["title"] == "c: A c"


def test_labels_longer_than_the_name_they_stand_in(agent: httpx.Client) -> None:
    run = start_run(agent)
    name = " ".join(f"password=q7Zx{number}" for number in range(8))
    call = ask(agent, run, kind="tool", tool=name)
    assert (call["decision"], set(gates(call))) == ("block", {"secrets"})
    stands = agent.get(f"/runs/{run}/tool-calls/{call['id']}")
    assert stands.json()["state"] == "refused"
    assert "q7Zx" not in stands.text


def test_a_long_name_and_a_long_message_are_put_before_a_person(
    agent: httpx.Client, project: Project
) -> None:
    own = {"name": "own", "pattern": "x", "message": "m" * 300}
    make_policy("own", project=project, tools={"patterns": [own]})
    call = tool(agent, start_run(agent, policy="own"), "n" * 128, a="x")
    assert call["review"]["kind"] == "confirmation"


def test_a_standing_permission_serves_an_idempotent_tool_as_well(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """A stored result does not answer a dangerous call, nor stand in its way."""
    make_policy("own", project=project, tools={"idempotent": ["Bash"]})
    run = start_run(agent, policy="own")
    rule(reviewer, command(agent, run), "approve", remember={"scope": "exact"})
    for _ in range(2):
        call = command(agent, run)
        assert (call["decision"], call["replayed"]) == ("allow", False)
        assert gates(call) == ["destructive", "permission"]
        assert settle(agent, run, call, output="gone").status_code == 200


def test_more_dangers_than_are_told_cannot_be_permitted_in_advance(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """What stands behind the last one told might be asked about every time."""
    text = "; ".join(f"rm -rf build-{number}" for number in range(80))
    call = command(agent, start_run(agent), f"{text}; mkfs.ext4 /dev/sdb1")
    review = reviewer.get(f"/reviews/{call['review']['id']}").json()
    assert review["content"]["permittable"] is False
    assert (
        rule(reviewer, call, "approve", remember={"scope": "exact"}).status_code == 422
    )


def test_several_edits_are_asked_about_every_time(
    agent: httpx.Client, reviewer: httpx.Client, project: Project
) -> None:
    """Their original is not kept, so nobody could say what the next time would change."""
    own = {"name": "own", "pattern": "moon", "message": "No moons"}
    make_policy("own", project=project, tools={"patterns": [own]})
    call = ask(
        agent,
        start_run(agent, policy="own"),
        kind="multi_edit",
        file_path="a",
        original="x",
        edits=[{"old": "x", "new": "moon"}],
    )
    review = reviewer.get(f"/reviews/{call['review']['id']}").json()
    assert review["content"]["permittable"] is False
    assert "+moon" in review["content"]["preview"]["diff"]
    refused = rule(reviewer, call, "approve", remember={"scope": "exact"})
    assert refused.status_code == 422


def test_a_schema_for_commands_sees_the_command(
    agent: httpx.Client, project: Project
) -> None:
    schema = {
        "properties": {"command": {"type": "string", "maxLength": 10}},
        "required": ["command"],
        "additionalProperties": False,
    }
    make_policy("own", project=project, tools={"schemas": {"Bash": schema}})
    run = start_run(agent, policy="own")
    assert command(agent, run, "ls")["decision"] == "allow"
    assert gates(command(agent, run, "ls " * 10)) == ["schema"]
    given = command(agent, run, "ls", arguments={"command": "ls", "cwd": "/"})
    assert gates(given) == ["schema"]


@pytest.mark.parametrize("number", ["1.0", "1e2", "-0.5", "12345678901234"])
def test_numbers_in_arguments_come_back_as_they_were(
    agent: httpx.Client, number: str
) -> None:
    run = start_run(agent)
    answer = agent.post(
        f"/runs/{run}/tool-calls",
        content=f'{{"kind": "tool", "tool": "T", "arguments": {{"n": {number}}}}}',
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 201, answer.text
    claimed = claim(agent, run, answer.json()).json()
    assert claimed["call"]["arguments"]["n"] == float(number)
