"""PreToolUse: let go, refused, or held until a person has ruled."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from gateway.models import HookCall
from reviews.models import Grant, Review, ToolCall
from tests.gateway.coding_agents.hosts import SOON, Host, decision, reason
from tests.support.builders import make_policy
from tests.support.people import rule

HARMLESS = "ls -la"
ASKED = "rm -rf build"


def test_harmless_calls_are_left_to_the_hosts_own_rules(claude: Host) -> None:
    assert claude.before(HARMLESS) == {}

    call = ToolCall.objects.get(run=claude.run)
    assert (call.kind, call.tool, call.decision) == ("command", "Bash", "allow")
    assert Grant.objects.get(call=call).state == "spent"
    run = claude.run
    assert run.task == "Claude Code in shop"
    labels = {"host": "claude-code", "folder": "shop", "session": claude.session}
    assert run.labels == labels

    claude.options = {"on_allow": "allow"}
    assert decision(claude.before(HARMLESS, "toolu_2")) == "allow"


def test_a_call_is_denied_with_what_may_be_done_instead(claude: Host) -> None:
    token = "gh" + "p_" + "a1B2" * 9
    answer = claude.before(f"export TOKEN={token}")

    assert decision(answer) == "deny"
    assert "environment variable" in reason(answer)
    assert token not in str(answer)


@pytest.mark.parametrize("dialect", ["claude-code", "codex"])
def test_a_person_approves_while_the_hook_is_held(
    agent: httpx.Client, reviewer: httpx.Client, dialect: str
) -> None:
    host = Host(client=agent, dialect=dialect)
    waiting = host.parked(lambda: host.before(ASKED))
    assert not waiting.done()

    rule(reviewer, str(host.review.code), "approve", note="go ahead")

    answer = waiting.result(timeout=60)
    if dialect == "codex":
        # An allow that changes nothing is a broken hook to it.
        assert "permissionDecision" not in answer["hookSpecificOutput"]
    else:
        assert decision(answer) == "allow"
        assert "go ahead" in reason(answer)
    call = ToolCall.objects.get(run=host.run)
    assert Grant.objects.get(call=call).state == "spent"


def test_a_person_denies_and_says_why(claude: Host, reviewer: httpx.Client) -> None:
    waiting = claude.parked(lambda: claude.before(ASKED))

    rule(reviewer, str(claude.review.code), "deny", note="use make clean")

    answer = waiting.result(timeout=60)
    assert decision(answer) == "deny"
    assert "use make clean" in reason(answer)


def test_a_person_aborts_and_the_tool_does_not_run(
    claude: Host, reviewer: httpx.Client
) -> None:
    waiting = claude.parked(lambda: claude.before(ASKED))

    rule(reviewer, str(claude.review.code), "abort", note="wrong branch")

    answer = waiting.result(timeout=60)
    assert answer["continue"] is False
    assert "wrong branch" in answer["stopReason"]
    assert str(claude.run.code) in answer["stopReason"]
    assert decision(answer) == "deny"
    # Nothing else runs either, until somebody at the terminal says something new.
    assert claude.before(HARMLESS, "toolu_2")["continue"] is False
    assert claude.fire("UserPromptSubmit", prompt="Now the other branch") == {}
    assert claude.before(HARMLESS, "toolu_3") == {}
    assert claude.run.task == "Now the other branch"
    assert claude.run.parent is not None


AMENDED: list[tuple[str, str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        "a command",
        "Bash",
        {"command": ASKED, "description": "Clean", "timeout": 5000},
        {"command": "make clean"},
        {"command": "make clean", "description": "Clean", "timeout": 5000},
    ),
    (
        "a file",
        "Write",
        {"file_path": "/home/robo/shop/a.py", "content": "guarded = 1\n"},
        {"content": "x = 1\n"},
        {"file_path": "/home/robo/shop/a.py", "content": "x = 1\n"},
    ),
    (
        "an edit",
        "Edit",
        {"file_path": "/a.py", "old_string": "y", "new_string": "guarded = 1\n"},
        {"content": "x = 1\n"},
        {"file_path": "/a.py", "old_string": "y", "new_string": "x = 1\n"},
    ),
    (
        "several edits",
        "MultiEdit",
        {
            "file_path": "/a.py",
            "edits": [
                {"old_string": "a", "new_string": "guarded = 1\n"},
                {"old_string": "b", "new_string": "c", "replace_all": True},
                {"old_string": "b", "new_string": "d"},
            ],
        },
        {
            "edits": [
                {"old": "a", "new": "x = 1\n"},
                {"old": "b", "new": "d", "replace_all": False},
            ]
        },
        {
            "file_path": "/a.py",
            "edits": [
                {"old_string": "a", "new_string": "x = 1\n"},
                {"old_string": "b", "new_string": "d"},
            ],
        },
    ),
    (
        "a patch",
        "apply_patch",
        {"command": "*** Begin Patch\n*** Add File: a\n+guarded\n*** End Patch"},
        {"content": "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch"},
        {"command": "*** Begin Patch\n*** Add File: b\n+x\n*** End Patch"},
    ),
    (
        "a tool",
        "mcp__db__query",
        {"sql": "DROP TABLE users", "limit": 1},
        {"arguments": {"sql": "SELECT 1", "limit": 1}},
        {"sql": "SELECT 1", "limit": 1},
    ),
]


@pytest.fixture
def wary(project: Project) -> str:
    """A policy that asks about more than commands."""
    own = {
        "name": "guarded",
        "pattern": "guarded",
        "decision": "require-confirmation",
        "message": "This is guarded",
    }
    make_policy("wary", project=project, tools={"patterns": [own]})
    return "wary"


def encode(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def test_an_amended_call_runs_as_the_person_changed_it(
    agent: httpx.Client, reviewer: httpx.Client, wary: str
) -> None:
    for what, tool, given, amended, updated in AMENDED:
        host = Host(client=agent, options={"policy": wary})
        waiting = host.parked(
            lambda host=host, tool=tool, given=given: host.fire(  # type: ignore[misc]
                "PreToolUse-Bash", tool_name=tool, tool_input=given
            )
        )
        rule(reviewer, str(host.review.code), "amend", amended=amended)
        answer = waiting.result(timeout=60)
        assert decision(answer) == "allow", what
        assert answer["hookSpecificOutput"]["updatedInput"] == updated, what
        told = answer["hookSpecificOutput"]["additionalContext"]
        assert "with changes" in told, what
        changed = [name for name in updated if updated[name] != given.get(name)]
        assert changed, what
        for name in changed:
            for value in (updated[name], given[name]):
                assert encode(value) in told, what
        for name in given.keys() - changed:
            assert f'"{name}"' not in told, what


def test_what_cannot_be_put_into_the_tool_is_sent_back(
    codex: Host, reviewer: httpx.Client
) -> None:
    """A host that asks for its user's permission takes no other input."""
    given = {"command": ASKED}
    waiting = codex.parked(
        lambda: codex.fire("PermissionRequest-Bash", tool_input=given)
    )
    rule(reviewer, str(codex.review.code), "amend", amended={"command": "ls build"})

    answer = waiting.result(timeout=60)
    assert "deny" in str(answer)
    assert "ls build" in str(answer)


def test_nobody_rules_in_time(agent: httpx.Client) -> None:
    hosts = [
        Host(
            client=agent,
            dialect=dialect,
            options={**SOON, "headless": headless},
        )
        for dialect in ("claude-code", "codex")
        for headless in ("false", "true")
    ]
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda host: host.before(ASKED), hosts))

    assert [decision(answer) for answer in answers] == ["ask", "defer", "deny", "deny"]
    for host, answer in zip(hosts, answers, strict=True):
        assert str(host.review.code) in reason(answer)
        assert "Deletes build with all contents" in reason(answer)


def test_a_deferred_call_is_found_again_when_the_session_is_resumed(
    claude: Host, reviewer: httpx.Client
) -> None:
    claude.options = {**SOON, "headless": "true"}
    assert decision(claude.before(ASKED)) == "defer"
    assert claude.fire("SessionEnd") == {}
    assert claude.run.status == "paused"
    review = claude.review

    rule(reviewer, str(review.code), "approve")
    assert decision(claude.before(ASKED)) == "allow"

    # After a lost answer the same is said again; another input is another matter.
    assert decision(claude.before(ASKED)) == "allow"
    other = claude.send("PreToolUse-Bash", tool_use_id="toolu_1")
    assert "another input" in reason(other.json())
    assert Review.objects.filter(run=claude.run).count() == 1
    assert HookCall.objects.filter(session__session=claude.session).count() == 1


def test_an_agent_that_asks_again_is_not_put_before_a_person_twice(
    codex: Host, reviewer: httpx.Client
) -> None:
    codex.options = {**SOON}
    assert decision(codex.before(ASKED, "call_1")) == "deny"
    codex.options = {}
    again = codex.parked(lambda: codex.before(ASKED, "call_2"))
    assert Review.objects.filter(run=codex.run).count() == 1

    rule(reviewer, str(codex.review.code), "approve")
    assert again.result(timeout=60) == {}
    # One approval, one call: the next one is asked about anew.
    codex.options = {**SOON}
    codex.parked(lambda: codex.before(ASKED, "call_3"))
    assert Review.objects.filter(run=codex.run).count() == 2


def test_codex_need_not_ask_its_user_about_what_a_person_approved(
    codex: Host, reviewer: httpx.Client
) -> None:
    given = {"command": ASKED, "description": "Told to the user, and not run"}
    request = partial(codex.fire, "PermissionRequest-Bash", tool_input=given)

    def behavior(answer: dict[str, Any]) -> str:
        said: str = answer["hookSpecificOutput"]["decision"]["behavior"]
        return said

    waiting = codex.parked(lambda: codex.before(ASKED, "call_1"))
    rule(reviewer, str(codex.review.code), "approve")
    assert waiting.result(timeout=60) == {}
    assert behavior(request()) == "allow"

    # What only our gates let go is left to its user, unless they want otherwise.
    codex.before(HARMLESS, "call_2")
    harmless = {"command": HARMLESS}
    assert request(tool_input=harmless) == {}
    codex.options = {"on_allow": "allow"}
    assert behavior(request(tool_input=harmless)) == "allow"

    # Nobody has judged it yet: that is done now, and changes cannot be handed on.
    fresh = {"command": "rm -rf dist"}
    asked = codex.parked(lambda: request(tool_input=fresh))
    amended = {"command": "make clean"}
    rule(reviewer, str(codex.review.code), "amend", amended=amended)
    answer = asked.result(timeout=60)
    assert behavior(answer) == "deny"
    assert "make clean" in answer["hookSpecificOutput"]["decision"]["message"]
    codex.options = SOON
    assert behavior(request(tool_input={"command": "rm -rf out"})) == "deny"


def test_an_approval_that_ran_out_unused_is_asked_for_anew(
    codex: Host, reviewer: httpx.Client
) -> None:
    codex.options = {**SOON}
    assert decision(codex.before(ASKED, "call_1")) == "deny"
    rule(reviewer, str(codex.review.code), "approve")
    Grant.objects.filter(run=codex.run).update(expires_at=timezone.now())

    assert str(codex.review.code) not in reason(codex.before(ASKED, "call_2"))

    assert Review.objects.filter(run=codex.run).count() == 2
    assert codex.review.state == "open"
