"""Claude Code itself, governed through the hooks that our command has installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest
from checkrail.hooks import install

from accounts.models import Project
from ledger.models import Run
from reviews.models import Review
from tests.gateway.coding_agents.real.programs import (
    PATIENCE_S,
    Session,
    last_document,
    waiting_review,
)
from tests.gateway.coding_agents.standins import TOKENS, Turn
from tests.reviews.agent_notes.telling import list_states, tell
from tests.reviews.halts.halting import halt
from tests.support.builders import (
    Person,
    Robot,
    make_policy,
    pause_at_once,
    start_run,
)
from tests.support.live import Live
from tests.support.people import rule
from tests.support.waiting import until

ASKED = "rm -rf build"
WAITS = "touch begun; until [ -e go ]; do sleep 0.1; done"


Govern = Callable[..., None]


@pytest.fixture
def govern(session: Session, live: Live, robo: Robot) -> Govern:
    """Installs the hooks; by the command hook, for this project and user."""
    return partial(
        install, "claude-code", url=live.url, key=robo.key, folder=session.project
    )  # type: ignore[return-value]


def bash(command: str) -> Turn:
    return [("Bash", {"command": command, "description": "Does it"})]


def start(session: Session, *words: str, tools: str = "Bash") -> subprocess.Popen[str]:
    return session.start(
        *("-p", *words, "--output-format", "json", "--allowedTools", *tools.split()),
        ANTHROPIC_BASE_URL=session.model.url,
        ANTHROPIC_API_KEY="not-a-key",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_TELEMETRY="1",
    )


def run_session(session: Session, *words: str) -> dict[str, Any]:
    return last_document(start(session, *words))


def added(session: Session, request: int) -> str:
    """What the last message of a request says beside the result of the tool."""
    parts = session.model.heard[request]["messages"][-1]["content"]
    return "\n".join(part["text"] for part in parts if part["type"] == "text")


@pytest.mark.parametrize("by_http", [False, True], ids=["command", "http"])
def test_calls_are_denied_approved_and_changed(
    session: Session,
    govern: Govern,
    project: Project,
    reviewer: httpx.Client,
    by_http: bool,
) -> None:
    govern(by_http=by_http)
    token = "gh" + "p_" + "a1B2" * 9
    session.model.script = [
        bash(f"touch denied && export TOKEN={token}"),
        bash(ASKED),
        bash("rm -rf dist"),
        bash("rm -rf out"),
    ]
    process = start(session, "Clean up")

    rule(reviewer, str(waiting_review(project).code), "approve", note="fine")
    until(lambda: not (session.project / "build").exists(), seconds=60)
    amended = {"command": "touch amended"}
    rule(reviewer, str(waiting_review(project).code), "amend", amended=amended)
    rule(reviewer, str(waiting_review(project).code), "deny", note="keep out")

    assert last_document(process)["result"] == "All done."
    names = {path.name for path in session.project.iterdir()}
    assert "denied" not in names
    assert "amended" in names
    assert "Checkrail blocked this call" in session.model.told
    assert "keep out" in session.model.told
    # What was written with the approval, too: as a person's words.
    assert 'a reviewer, wrote: \\"fine\\"' in session.model.told
    run = Run.objects.get(project=project)
    assert (run.task, run.status) == ("Clean up", "completed")
    # Steps are what ran: two of the four. Tokens are known to the command hook alone.
    if by_http:
        assert (run.steps, run.tokens_used) == (2, 0)
    else:
        assert run.tokens_used == 5 * TOKENS


@pytest.mark.parametrize("by_http", [False, True], ids=["command", "http"])
def test_a_note_reaches_its_model_once(
    session: Session,
    govern: Govern,
    project: Project,
    reviewer: httpx.Client,
    bob: Person,
    by_http: bool,
) -> None:
    govern(by_http=by_http)
    session.model.script = [bash(ASKED), bash("touch two"), bash("touch three")]
    process = start(session, "Clean up")

    review = waiting_review(project)
    tell(reviewer, str(review.run.code), "Keep dist", tags=["scope"])
    rule(reviewer, str(review.code), "approve")

    assert last_document(process)["result"] == "All done."
    told = 'a reviewer, wrote: "Keep dist"'
    assert session.model.count_in_each(told) == [0, 1, 1, 1]
    assert f"additional context: Note (scope): {bob.user.username}, {told}" in added(
        session, 1
    )
    assert list_states(reviewer, str(review.run.code)) == ["read"]


def test_a_note_reaches_it_while_a_tool_runs(
    session: Session, govern: Govern, project: Project, reviewer: httpx.Client
) -> None:
    govern()
    session.model.script = [bash(WAITS), bash("touch two")]
    process = start(session, "Clean up")

    until(lambda: (session.project / "begun").exists(), seconds=60)
    run = str(Run.objects.get(project=project).code)
    tell(reviewer, run, "Keep dist")
    (session.project / "go").touch()

    assert last_document(process)["result"] == "All done."
    told = 'a reviewer, wrote: "Keep dist"'
    assert session.model.count_in_each(told) == [0, 1, 1]
    assert "PostToolUse:Bash hook additional context: Note: " in added(session, 1)
    assert list_states(reviewer, run) == ["read"]


def test_a_halt_ends_it(
    session: Session, govern: Govern, reviewer: httpx.Client
) -> None:
    govern()
    session.model.script = [bash(WAITS), bash("touch two")]
    process = start(session, "Clean up")

    until(lambda: (session.project / "begun").exists(), seconds=60)
    halt(reviewer, reason="Look at it")
    (session.project / "go").touch()

    assert last_document(process)["terminal_reason"] == "hook_stopped"
    assert len(session.model.heard) == 1
    assert not (session.project / "two").exists()


@pytest.mark.parametrize("megabytes", [2, 4, 8, 32])
def test_a_call_too_large_to_judge_does_not_run(
    session: Session, govern: Govern, megabytes: int
) -> None:
    """Over HTTP: a refusal that the host cannot hear would let it run."""
    govern(by_http=True)
    large = {
        "file_path": str(session.project / "large.txt"),
        "content": "x" * (megabytes * 1_000_000),
    }
    session.model.script = [[("Write", large)], bash("touch small")]

    # It repeats the call in what it prints, and cuts that: nothing to be read as JSON.
    start(session, "Write it", tools="Write Bash").communicate(timeout=PATIENCE_S)

    names = {path.name for path in session.project.iterdir()}
    assert "large.txt" not in names
    assert "small" in names  # the hook, and not something else, held the first one
    assert "Checkrail could not judge this" in session.model.told


def test_a_stopped_run_stops_it(
    session: Session, govern: Govern, project: Project
) -> None:
    make_policy("small", project=project, budget={"tokens": TOKENS})
    govern(policy="small")
    session.model.script = [bash("touch one"), bash("touch two"), bash("touch three")]

    answer = run_session(session, "Work")

    assert answer["terminal_reason"] == "hook_stopped"
    names = {path.name for path in session.project.iterdir()}
    assert "two" not in names
    assert Run.objects.get(project=project, task="Work").status == "stopped"
    assert len(session.model.heard) <= 2


def test_a_parked_call_is_resumed_after_the_ruling(
    session: Session, govern: Govern, project: Project, reviewer: httpx.Client
) -> None:
    govern(wait_s=20)
    session.model.script = [bash(ASKED)]
    answer = run_session(session, "Clean up")
    assert answer["stop_reason"] == "tool_deferred"
    assert (session.project / "build").exists()

    review = Review.objects.get(project=project)
    rule(reviewer, str(review.code), "approve")
    answer = run_session(session, "--resume", answer["session_id"])

    assert answer["result"] == "All done."
    assert not (session.project / "build").exists()
    assert Review.objects.filter(project=project).count() == 1
    assert Run.objects.filter(project=project).count() == 1


def test_an_agent_that_stops_half_way_is_sent_on(
    session: Session, govern: Govern, project: Project
) -> None:
    make_policy("eager", project=project, turns={"threshold": 35, "warn_from": 20})
    govern(policy="eager")
    half_way = "I have looked at it. Now let me continue with the second file."
    session.model.script = [bash("ls"), [half_way]]
    answer = run_session(session, "Look at both")
    assert answer["result"] == "All done."
    assert len(session.model.heard) == 3
    assert "stop hook" in session.model.told.lower()


def test_nothing_goes_on_without_the_server(session: Session, robo: Robot) -> None:
    url = "http://127.0.0.1:9"
    install("claude-code", url=url, key=robo.key, folder=session.project)
    session.model.script = [bash("touch ungoverned")]

    answer = run_session(session, "Work")

    assert url in answer["result"]
    assert session.model.heard == []
    assert not (session.project / "ungoverned").exists()


def test_it_cannot_approve_its_own_review_with_a_token_that_it_finds(
    session: Session,
    govern: Govern,
    project: Project,
    agent: httpx.Client,
    reviewer: httpx.Client,
    live: Live,
    bob: Person,
) -> None:
    """The call is held; and if a person lets it run, the server refuses its ruling."""
    govern()
    own = pause_at_once(agent, start_run(agent))
    login = session.home / "login.json"
    login.write_text(json.dumps({"url": live.url, "token": bob.token}))
    config = f"CHECKRAIL_CONFIG={login}"
    approve = f"{config} {sys.executable} -m checkrail approve {own} --yes"
    session.model.script = [bash(approve), bash(approve)]
    process = start(session, "Go on")

    def held() -> Review:
        return waiting_review(project, besides=own)

    first = held()
    assert json.loads(first.content)["findings"][0]["gate"] == "guard-tampering"
    rule(reviewer, str(first.code), "deny", note="not yours")
    rule(reviewer, str(held().code), "approve")

    last_document(process)
    assert "a person is asked" in session.model.told
    assert Review.objects.get(code=own).state == "open"
