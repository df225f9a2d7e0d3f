"""Whatever the document allows, and more, is sent to every operation.

No answer has a status, a form, a header or a body that the document does not know. Few
examples are tried, and each operation by somebody it is open to; who else is refused is
told by tests/config/authorisation. `make nightly` tries 300 of each operation for an
agent, and as many for a person.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from config.api import api
from tests.support.builders import Person, Robot, start_run
from tests.support.examples import ALL
from tests.support.live import Live

pytestmark = pytest.mark.timeout(7_200 if ALL else 300)
# Statuses, forms, headers and bodies of answers are checked. What else could be: whether
# requests that the schema allows are taken, which state and spelling decide, too.
UNCHECKED = (
    *("negative_data_rejection", "positive_data_acceptance", "missing_required_header"),
    *("unsupported_method", "allow_header_conformance", "use_after_free"),
    *("ensure_resource_availability", "ignored_auth", "object_level_authorization"),
)
HOW_MUCH = ("--max-examples", "300") if ALL else ("--max-examples", "1", "--seed", "1")


@pytest.fixture
def settings(agent: httpx.Client, manager: httpx.Client, tmp_path: Path) -> Path:
    """Ids of things that exist, so that more than 404 is answered.

    Each operation that ends or holds a run has a run of its own.
    """
    run = start_run(agent)
    call = agent.post(
        f"/runs/{run}/tool-calls", json={"kind": "command", "command": "rm -rf build"}
    ).json()
    question = {"kind": "question", "title": "Which branch?"}
    asked = agent.post(f"/runs/{start_run(agent)}/reviews", json=question).json()
    note = agent.post("/loop/notes", json={"text": "Look at this"}).json()
    recommendation = {"title": "Do it", "change": {"advice": "Sweep the floor"}}
    hook = {"url": "https://receiver.invalid/", "types": ["run.finished"]}
    ids = {
        "path.run": run,
        "path.call": call["id"],
        "path.review": asked["id"],
        "path.note": note["id"],
        "path.recommendation": agent.post(
            "/loop/recommendations", json=recommendation
        ).json()["id"],
        "path.webhook": manager.post("/webhooks", json=hook).json()["id"],
        "path.decision_id": note["decision_id"],
        "path.name": "default",
        "path.number": 1,
        # Nobody rules meanwhile: only time would be lost.
        "query.wait": 0,
        "query.wait_s": 1,
    }
    ended = start_run(agent)
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})
    own = {
        "finish_run": start_run(agent),
        "abort_run": start_run(agent),
        "ask_person": start_run(agent),
        "judge_turn": start_run(agent),
        "follow_run": ended,
    }
    lines = ["[parameters]", *(f"{name!r} = {json.dumps(ids[name])}" for name in ids)]
    lines += ["[checks]", *(f"{name}.enabled = false" for name in UNCHECKED)]
    for name, value in own.items():
        lines += ["[[operations]]", f"include-operation-id = {name!r}"]
        lines += [f"parameters = {{ 'path.run' = {value!r} }}"]
    path = tmp_path / "schemathesis.toml"
    path.write_text("\n".join(lines))
    return path


def list_operations(*, people_only: bool) -> list[str]:
    """Their ids: what only people may do, or what agents may do, too."""
    paths = api.get_openapi_schema(path_prefix="")["paths"].values()
    operations = [each for methods in paths for each in methods.values()]
    found = [
        each["operationId"]
        for each in operations
        if ({"PersonBearer": []} in each["security"]) == people_only
    ]
    assert len(found) > 20
    return found


def try_everything(
    live: Live, settings: Path, headers: dict[str, str], *, people_only: bool
) -> None:
    tried = [] if ALL else list_operations(people_only=people_only)
    result = subprocess.run(
        [
            *(Path(sys.executable).with_name("st"), "--config-file", settings),
            *("--no-color", "run", f"{live.api}/openapi.json"),
            *("--phases", "examples,fuzzing", "--continue-on-failure", *HOW_MUCH),
            *("--header", f"Authorization: {headers['Authorization']}"),
            # However busy the machine is, nothing is judged by its time.
            *("--request-timeout", "60", "--suppress-health-check", "all"),
            *("--warnings", "off"),
            *(f"--include-operation-id={operation}" for operation in tried),
        ],
        cwd=settings.parent,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        encoding="utf-8",
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "No issues found" in result.stdout, result.stdout


def test_an_agent_is_answered_as_documented(
    live: Live, settings: Path, robo: Robot
) -> None:
    try_everything(live, settings, robo.headers, people_only=False)


def test_a_person_is_answered_as_documented(
    live: Live, settings: Path, alice: Person
) -> None:
    try_everything(live, settings, alice.headers, people_only=True)
