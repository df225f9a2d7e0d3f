"""The real openai-agents with its scripted model, against the live server."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import httpx
import pytest
from agents import Agent, RunConfig, RunState, Usage, function_tool
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from checkrail import AsyncCheckrail, Checkrail, Stopped
from checkrail.integrations.openai_agents import Parked, guarded, run_with_checkrail

from tests.integrations.newcomer import EXAMPLES, Newcomer
from tests.integrations.people import Reviewer, amend, approve, deny
from tests.support.people import rule

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
SILENT = RunConfig(tracing_disabled=True)


class Scene:
    """An agent with a script, and what its tools have done."""

    def __init__(self, *turns: list[tuple[str, dict[str, Any]]]) -> None:
        self.ran: list[str] = []
        usage = Usage(requests=1, input_tokens=90, output_tokens=10, total_tokens=100)
        numbers = iter(range(100))
        steps = [
            ModelStep(
                output=[
                    function_call(name, args, call_id=f"call-{next(numbers)}")
                    for name, args in turn
                ],
                usage=usage,
            )
            for turn in turns
        ]
        done = ModelStep(output=[assistant_message("Done.")], usage=usage)
        self.model = ScriptedModel([*steps, done])

        @function_tool
        def run_command(command: str) -> str:
            self.ran.append(command)
            return f"done: {command}"

        @function_tool(needs_approval=True)
        def send_email(to: str) -> str:
            self.ran.append(to)
            return "sent"

        self.agent = guarded(
            Agent(name="robo", model=self.model, tools=[run_command, send_email])
        )

    def heard(self) -> list[str]:
        """What the model was told about its calls."""
        call = self.model.last_call
        assert call is not None
        return [
            item["output"]
            for item in call.input
            if item.get("type") == "function_call_output"
        ]


def shell(command: str) -> tuple[str, dict[str, Any]]:
    return ("run_command", {"command": command})


async def test_calls_are_judged_and_turns_are_steps(
    async_checkrail: AsyncCheckrail, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    scene = Scene(
        [shell("ls"), shell(f"echo {SECRET}")],
        [shell("rm -rf build"), shell("rm -rf src")],
        [("send_email", {"to": "alice"})],
        [("send_email", {"to": "charlie"})],
        [shell("rm -rf dist")],
        [shell("rm -ri dist")],
    )
    person = Reviewer(
        reviewer,
        approve(),
        deny("Keep it."),
        approve(),
        deny("Not to an outsider."),
        amend({"command": "rm -ri dist"}),
    )
    async with async_checkrail.run("Tidy up", on_wait=person) as run:
        result = await run_with_checkrail(
            scene.agent, "Tidy up", run=run, run_config=SILENT
        )

    assert result.final_output == "Done."
    assert scene.ran == ["ls", "rm -rf build", "alice", "rm -ri dist"]
    heard = scene.heard()
    assert heard[0] == "done: ls"
    assert "secret" in heard[1]
    assert "Keep it." in heard[3]
    assert "Not to an outsider." in heard[5]
    assert 'exactly these: {"command": "rm -ri dist"}' in heard[6]
    # What a person put in place of a call needed nobody's approval again.
    assert [shown["kind"] for shown in person.asked] == [
        "confirmation",
        "confirmation",
        "request",
        "request",
        "confirmation",
    ]

    stands = agent.get(f"/runs/{run.id}").json()
    assert (stands["status"], stands["steps"]) == ("completed", 7)
    assert stands["budget"]["tokens"]["used"] == 700
    ledger = agent.get(f"/runs/{run.id}/ledger").text
    assert ledger.count('"call.claimed"') == ledger.count('"call.settled"') == 4


async def test_a_process_may_end_while_a_person_thinks(
    checkrail: Checkrail, reviewer: httpx.Client
) -> None:
    """The state is kept as JSON; another process finds the review, and its ruling."""
    first = Scene([shell("rm -rf build")])
    run = checkrail.run("Tidy up")
    with pytest.raises(Parked) as parked:
        await run_with_checkrail(
            first.agent, "Tidy up", run=run, timeout=0, run_config=SILENT
        )
    kept = json.dumps(parked.value.state.to_json())
    run.close()

    second = Scene()
    person = Reviewer(reviewer, approve())
    run = checkrail.resume(run.id, on_wait=person)
    state = await RunState.from_json(second.agent, json.loads(kept))
    result = await run_with_checkrail(second.agent, state, run=run, run_config=SILENT)
    run.finish()
    assert result.final_output == "Done."
    assert (first.ran, second.ran) == ([], ["rm -rf build"])
    assert [shown["id"] for shown in person.asked] == [parked.value.review.id]


async def test_a_stop_ends_the_agent(async_checkrail: AsyncCheckrail) -> None:
    scene = Scene([shell("ls")])
    async with async_checkrail.run("Tidy up", budget={"tokens": 50}) as run:
        with pytest.raises(Stopped):
            await run_with_checkrail(scene.agent, "Tidy up", run=run, run_config=SILENT)
    assert scene.ran == []


def load_module(path: Path) -> Any:
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_the_example_comes_back(
    newcomer: Newcomer,
    reviewer: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One process asks and ends, another one (this very one) goes on after the ruling."""
    program = "openai_agents_agent.py"
    assert newcomer.start(program) == []
    (review,) = reviewer.get("/reviews?state=open").json()["items"]
    rule(reviewer, review["id"], "approve")

    for name, value in newcomer.variables.items():
        monkeypatch.setenv(name, value)
    example = load_module(EXAMPLES / program)
    example.WAITING = newcomer.folder / example.WAITING
    await example.main()
    printed = capsys.readouterr().out.splitlines()
    assert printed == ["running: rm -rf build", "The tool said: ok"]
    assert list(newcomer.folder.iterdir()) == []
    (run,) = reviewer.get("/runs").json()["items"]
    assert run["status"] == "completed"
