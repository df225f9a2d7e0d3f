"""Codex itself, governed through the hooks that our command has installed."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from checkrail.hooks import install

from accounts.models import Project
from ledger.models import Run
from tests.gateway.coding_agents.real.programs import (
    PATIENCE_S,
    Session,
    find_codex,
    waiting_review,
)
from tests.gateway.coding_agents.standins import TOKENS, Turn, standing_in
from tests.reviews.agent_notes.telling import list_states, tell
from tests.support.builders import Robot, make_policy
from tests.support.live import Live
from tests.support.people import rule
from tests.support.waiting import until

SETTINGS = """
model = "some-model"
model_provider = "standin"
[model_providers.standin]
name = "standin"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"
request_max_retries = 0
stream_max_retries = 0
"""


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    home, folder = tmp_path / "home", tmp_path / "shop"
    (folder / "build").mkdir(parents=True)
    (home / ".codex").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    for variable in ("XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    with standing_in() as model:
        settings = SETTINGS.format(url=model.url)
        (home / ".codex" / "config.toml").write_text(settings)
        yield Session(program=find_codex(), home=home, project=folder, model=model)


def shell(command: str) -> Turn:
    return [("exec_command", {"cmd": command})]


def start(session: Session, prompt: str) -> subprocess.Popen[str]:
    return session.start(
        *("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"),
        *("--sandbox", "danger-full-access", prompt),
        STANDIN_KEY="not-a-key",
    )


def test_calls_are_denied_approved_and_changed(
    session: Session,
    live: Live,
    robo: Robot,
    project: Project,
    reviewer: httpx.Client,
) -> None:
    install("codex", url=live.url, key=robo.key)
    token = "gh" + "p_" + "a1B2" * 9
    session.model.script = [
        shell(f"touch denied && export TOKEN={token}"),
        # Codex itself refuses rm -rf, whatever its hooks say.
        shell("find build -delete"),
        shell("find dist -delete"),
    ]
    process = start(session, "Clean up")

    rule(reviewer, str(waiting_review(project).code), "approve", note="fine")
    until(lambda: not (session.project / "build").exists(), seconds=60)
    amended = {"command": "touch amended"}
    rule(reviewer, str(waiting_review(project).code), "amend", amended=amended)
    out, _ = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 0, out
    names = {path.name for path in session.project.iterdir()}
    assert "denied" not in names
    assert "amended" in names
    assert "Checkrail blocked this call" in session.model.told
    # What was written with the approval, too: as a person's words.
    assert 'a reviewer, wrote: \\"fine\\"' in session.model.told
    run = Run.objects.get(project=project)
    assert (run.task, run.status, run.model) == ("Clean up", "completed", "some-model")
    assert run.tokens_used == 4 * TOKENS


def test_a_note_reaches_its_model_once(
    session: Session,
    live: Live,
    robo: Robot,
    project: Project,
    reviewer: httpx.Client,
) -> None:
    install("codex", url=live.url, key=robo.key)
    session.model.script = [shell("find build -delete"), shell("touch two")]
    process = start(session, "Clean up")

    review = waiting_review(project)
    tell(reviewer, str(review.run.code), "Keep dist", tags=["scope"])
    rule(reviewer, str(review.code), "approve")
    process.communicate(timeout=PATIENCE_S)

    assert session.model.count_in_each('a reviewer, wrote: "Keep dist"') == [0, 1, 1]
    assert list_states(reviewer, str(review.run.code)) == ["read"]


def test_a_stopped_run_runs_nothing_more(
    session: Session, live: Live, robo: Robot, project: Project
) -> None:
    make_policy("small", project=project, budget={"tokens": TOKENS})
    install("codex", url=live.url, key=robo.key, policy="small")
    session.model.script = [
        shell("touch one"),
        shell("touch two"),
        shell("touch three"),
    ]
    start(session, "Work").communicate(timeout=PATIENCE_S)

    names = {path.name for path in session.project.iterdir()}
    assert "three" not in names
    assert Run.objects.get(project=project, task="Work").status == "stopped"
    assert "Checkrail" in session.model.told


def test_nothing_goes_on_without_the_server(session: Session, robo: Robot) -> None:
    install("codex", url="http://127.0.0.1:9", key=robo.key)
    session.model.script = [shell("touch ungoverned")]
    start(session, "Work").communicate(timeout=PATIENCE_S)
    assert session.model.heard == []
    assert not (session.project / "ungoverned").exists()
