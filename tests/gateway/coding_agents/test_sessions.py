"""A session is a run: begun by a prompt, ended with the session, followed by the next."""

from __future__ import annotations

import json
from contextlib import closing
from http.client import HTTPConnection

import httpx

from accounts.auth import AgentPrincipal
from accounts.models import Project
from gateway.models import HookSession
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from tests.conftest import client_for
from tests.gateway.coding_agents.hosts import SOON, Host, decision, is_waited_for
from tests.support.builders import Robot, make_robot
from tests.support.live import Live
from tests.support.people import rule
from tests.support.waiting import until

ASKED = "rm -rf build"


def test_a_session_from_its_start_to_its_end_and_after(
    claude: Host, project: Project
) -> None:
    told = claude.fire("SessionStart", model="some-model")
    assert "governs" in told["hookSpecificOutput"]["additionalContext"]
    assert not claude.known

    prompt = "Fix the flaky login test\n\nIt fails on Mondays. " + "x" * 500
    assert claude.fire("UserPromptSubmit", prompt=prompt) == {}
    run = claude.run
    assert (run.task, run.model) == ("Fix the flaky login test", "some-model")
    assert claude.fire("UserPromptSubmit", prompt="And the other one") == {}
    claude.before("ls")
    claude.after("ls", checkrail={"tokens": 5})
    assert claude.fire("SessionEnd", checkrail={"tokens": 3}) == {}
    run.refresh_from_db()
    assert (run.status, run.status_reason) == ("completed", "The session ended: other")
    assert run.tokens_used == 8

    # Resumed: a run of its own that names the one before.
    assert claude.before("ls", "toolu_2") == {}
    assert claude.run != run
    assert claude.run.parent == run
    assert claude.run.task == "Claude Code in shop"
    for each in Run.objects.filter(project=project):
        assert verify_run(each).ok
        assert replay_run(each).difference is None


def test_sessions_of_other_agents_and_hosts_are_others(
    live: Live, agent: httpx.Client, project: Project
) -> None:
    one = Host(client=agent)
    one.before("ls")
    with client_for(live, make_robot("robo-2", project=project)) as other:
        two = Host(client=other, session=one.session)
        two.before("ls")
        three = Host(client=agent, dialect="codex", session=one.session)
        three.before("ls")
    rows = HookSession.objects.filter(session=one.session)
    assert rows.count() == rows.values("run").distinct().count() == 3
    assert three.run.task == "Codex in shop"


def test_questions_are_asked_once_more_at_the_terminal(
    claude: Host, reviewer: httpx.Client
) -> None:
    """What the agent asked is answered by the next prompt, and a parked call is not."""
    claude.options = SOON
    claude.before("ls")
    said = "Shall I delete the old table?"
    assert claude.fire("Stop", last_assistant_message=said) == {}
    assert (claude.review.kind, claude.review.state) == ("question", "open")
    assert claude.fire("UserPromptSubmit", prompt="No, keep it") == {}
    assert claude.review.state == "withdrawn"
    assert claude.run.status == "running"

    claude.options = {**SOON, "headless": "true"}
    assert decision(claude.before(ASKED, "toolu_2")) == "defer"
    claude.fire("UserPromptSubmit", prompt="Go on")
    assert claude.review.state == "open"
    # The turn came to its end: whatever was parked in it is over.
    claude.fire("Stop", last_assistant_message="Done.")
    assert claude.review.state == "withdrawn"


def test_a_host_that_says_it_is_headless_is_remembered_as_such(claude: Host) -> None:
    claude.options = SOON
    claude.fire("UserPromptSubmit", source="sdk")
    assert decision(claude.before(ASKED)) == "defer"


def test_a_host_that_hangs_up_lets_its_call_be_overtaken(
    live: Live, claude: Host, robo: Robot
) -> None:
    body = {
        "session_id": claude.session,
        "tool_name": "Bash",
        "tool_input": {"command": ASKED},
        "tool_use_id": "toolu_1",
    }
    url = httpx.URL(f"{live.api}/hooks/claude-code/PreToolUse")
    headers = {**robo.headers, "Content-Type": "application/json"}
    with closing(HTTPConnection(url.host, url.port)) as connection:
        connection.request("POST", url.path, json.dumps(body), headers)
        until(lambda: claude.known and is_waited_for(claude.run))
    until(lambda: not is_waited_for(claude.run))
    assert claude.review.state == "open"
    claude.fire("UserPromptSubmit", prompt="Something else")
    assert claude.review.state == "withdrawn"


def test_a_revoked_key_does_not_hear_of_the_ruling(
    claude: Host, reviewer: httpx.Client, robo: Robot
) -> None:
    from accounts.models import AgentKey

    principal = robo.principal
    assert isinstance(principal, AgentPrincipal)
    given = {"command": ASKED}
    waiting = claude.parked(
        lambda: claude.send("PreToolUse-Bash", tool_input=given).json()
    )
    AgentKey.objects.filter(pk=principal.key_id).update(
        revoked_at=claude.review.opened_at
    )
    rule(reviewer, str(claude.review.code), "approve")
    answer = waiting.result(timeout=60)
    assert decision(answer) == "deny"
    assert "key" in str(answer)
