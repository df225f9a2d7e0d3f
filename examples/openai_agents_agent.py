"""An OpenAI Agents SDK agent that ends while a person thinks, and comes back later.

The model is scripted, so nothing but Checkrail is needed to try it. Start it once: it
asks, and leaves its state in `waiting.json`. Rule in the console, start it again.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from agents import Agent, RunConfig, RunState, Usage, function_tool
from agents.testing import (
    ModelCall,
    ModelStep,
    ScriptedModel,
    assistant_message,
    function_call,
)
from checkrail import AsyncCheckrail
from checkrail.integrations.openai_agents import Parked, guarded, run_with_checkrail

# Whoever can write it can approve anything: keep it where only the agent can.
WAITING = Path("waiting.json")


@function_tool
def run_command(command: str) -> str:
    """Run a command."""
    print(f"running: {command}")
    return "ok"


def answer(call: ModelCall) -> ModelStep:
    """Stands for any model that calls tools."""
    heard = [item for item in call.input if item.get("type") == "function_call_output"]
    wanted = function_call("run_command", {"command": "rm -rf build"}, call_id="call-1")
    usage = Usage(requests=1, input_tokens=900, output_tokens=40, total_tokens=940)
    said = (
        assistant_message(f"The tool said: {heard[0]['output']}") if heard else wanted
    )
    return ModelStep(output=[said], usage=usage)


async def main() -> None:
    model = ScriptedModel([ModelStep.respond(answer)] * 10)
    agent = guarded(Agent(name="tidy", model=model, tools=[run_command]))
    silent = RunConfig(tracing_disabled=True)
    start: str | RunState[Any]
    async with AsyncCheckrail() as client:
        if WAITING.exists():
            kept = json.loads(WAITING.read_text())
            run = await client.resume(kept["run"])
            start = await RunState.from_json(agent, kept["state"])
        else:
            run = await client.run("Tidy up")
            start = "Tidy up"
        try:
            async with run:
                result = await run_with_checkrail(
                    agent, start, run=run, timeout=1, run_config=silent
                )
                print(result.final_output)
                WAITING.unlink(missing_ok=True)
        except Parked as parked:
            WAITING.touch(mode=0o600)
            state = parked.state.to_json()
            WAITING.write_text(json.dumps({"run": run.id, "state": state}))
            print(f"Waiting for a person: {parked.review.url}")


if __name__ == "__main__":
    asyncio.run(main())
