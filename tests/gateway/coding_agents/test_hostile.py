"""Events that are made to mislead: what ran is what was judged, and nothing is slow."""

from __future__ import annotations

import time

import httpx
import pytest

from accounts.models import Project
from gateway.coding_agents.mapping import is_commit
from gateway.models import HookCall, HookSession
from ledger.models import Entry
from reviews.models import Review
from tests.gateway.coding_agents.hosts import SOON, Host, decision
from tests.support.people import rule

pytestmark = pytest.mark.once(
    "forms of hooks; the calls behind them are repeated in tests/gateway/calls"
)


def test_a_commit_is_found_in_any_text_at_once() -> None:
    for command, commits in (
        ("git commit -m x", True),
        ("cd a && git -C b commit", True),
        ("git add . ; commit", False),
        ("git add .\nnpm commit", False),
        ("git-lfs x", False),
    ):
        assert is_commit({"command": command}) is commits, command
    began = time.thread_time()  # the processor's: a busy machine changes nothing
    assert not is_commit({"command": "git " * 60_000})
    assert time.thread_time() - began < 1


def test_an_approval_is_for_the_description_that_a_tool_is_given(
    codex: Host, reviewer: httpx.Client
) -> None:
    """Beside a command a description is told to people; elsewhere it is used."""
    codex.options = SOON

    def delete(description: str, use: str) -> dict[str, object]:
        return codex.fire(
            "PreToolUse-Bash",
            tool_name="mcp__db__query",
            tool_input={"sql": "DROP TABLE users", "description": description},
            tool_use_id=use,
        )

    assert decision(delete("Those of the test shop", "call_1")) == "deny"
    rule(reviewer, str(codex.review.code), "approve")
    assert decision(delete("All of them", "call_2")) == "deny"
    assert Review.objects.filter(run=codex.run).count() == 2


def test_an_approval_lets_the_next_use_not_through(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    """A request for permission belongs to the newest tool use, not to an earlier one."""
    codex = Host(client=agent, dialect="codex", options=SOON)
    given = {"command": "rm -rf build"}

    def behavior() -> str:
        answer = codex.fire("PermissionRequest-Bash", tool_input=given)
        said: str = answer["hookSpecificOutput"]["decision"]["behavior"]
        return said

    codex.before(given["command"], "call_1")
    rule(reviewer, str(codex.review.code), "approve")
    assert codex.before(given["command"], "call_1") == {}
    assert behavior() == "allow"
    codex.after(given["command"], "call_1")
    # It has run: whoever asks without a new tool use is asked about anew.
    assert behavior() == "deny"
    # And one that nobody has ruled on is not let through by the one before.
    assert decision(codex.before(given["command"], "call_2")) == "deny"
    assert behavior() == "deny"


def test_what_a_host_calls_itself_holds_no_secret(
    agent: httpx.Client, project: Project
) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    claude = Host(client=agent, session=f"of {token}")
    claude.fire("SessionStart", model=f"model {token}")
    for use in (f"use {token}", f"use {token}", "password=hunter2xZ9 " * 10):
        claude.before("ls", use)

    stored = [
        *HookSession.objects.values_list("session", "model"),
        *HookCall.objects.values_list("tool_use", flat=True),
        *Entry.objects.filter(project=project).values_list("payload", flat=True),
    ]
    assert len(stored) > 4
    assert token not in str(stored)
    assert "hunter2" not in str(stored)
    assert HookCall.objects.filter(session__session__startswith="of ").count() == 2


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_a_tool_is_held_also_where_the_address_is_for_something_else(
    agent: httpx.Client, dialect: str
) -> None:
    """Before a tool a host runs past everything but an answer to that very event."""
    event = {"session_id": "s", "hook_event_name": "PreToolUse"}
    for path in ("PreToolUse/", "pretooluse", "Stop", "PostToolUse"):
        answer = agent.post(f"/hooks/{dialect}/{path}", json=event).json()
        assert decision(answer) == "deny", path
