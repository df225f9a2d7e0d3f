"""Sessions of coding agents, turns, and spans of observed runs."""

from __future__ import annotations

from typing import Any

from tests.golden.stage import Stage

WAIT_S = 8
BEGAN = 1_936_000_000 * 10**9


def play(stage: Stage) -> None:
    stage.begin("11_coding_agents", hour=7.25)
    for dialect in ("claude-code", "codex"):
        _work_in_session(stage, dialect, ("ls", "rm -rf build"))
    _work_in_session(stage, "claude-code", ("pwd",))
    run = stage.start_run(task="Stop too early")
    said = "I will now run the tests and then fix what is left:"
    for number in range(3):
        turn = {"content": said, "finish_reason": "stop", "pending_todos": number}
        stage.ask("robo", f"POST /runs/{run}/turns", turn)
    stage.refuse("robo", f"POST /runs/{run}/turns", {"pending_todos": -1})
    stage.ask("robo", "POST /otlp/v1/traces", _list_spans())
    stage.refuse("robo", "POST /otlp/v1/traces", [1], status=400)


def _work_in_session(stage: Stage, dialect: str, commands: tuple[str, ...]) -> None:
    session = {
        "session_id": f"session-{dialect}-{len(commands)}",
        "cwd": "/srv/shop",
        "model": "demo-large",
    }

    def tell(event: str, **more: Any) -> None:
        # One of them is asked about and nobody rules: it takes as long in real time, which
        # has to be enough for all that comes before on a busy machine.
        path = f"/hooks/{dialect}/{event}?wait_s={WAIT_S}"
        stage.ask("robo", f"POST {path}", {**session, "hook_event_name": event, **more})

    tell("SessionStart", source="startup")
    tell("UserPromptSubmit", prompt="Fix the flaky login test")
    for number, text in enumerate(commands):
        tool = {
            "tool_name": "Bash",
            "tool_use_id": f"use-{number}",
            "tool_input": {"command": text},
        }
        tell("PreToolUse", **tool)
        if number == 0:
            tell("PostToolUse", tool_response={"stdout": "a b"}, **tool)
    tell("Stop", last_assistant_message="Done.")
    tell("UserPromptSubmit", prompt="And the other one")
    tell("SessionEnd", reason="exit")


def _list_spans() -> dict[str, Any]:
    def pair(name: str, value: Any) -> dict[str, Any]:
        kind = "intValue" if isinstance(value, int) else "stringValue"
        return {"key": name, "value": {kind: str(value)}}

    def span(
        number: int, operation: str, parent: str = "", **more: Any
    ) -> dict[str, Any]:
        pairs = {"gen_ai.operation.name": operation}
        pairs |= {
            f"gen_ai.{name.replace('__', '.')}": each for name, each in more.items()
        }
        return {
            "traceId": "7" * 32,
            "spanId": f"{number:016x}",
            "parentSpanId": parent,
            "name": operation,
            "startTimeUnixNano": str(BEGAN + number * 10**9),
            "endTimeUnixNano": str(BEGAN + number * 10**9 + 250_000_000),
            "attributes": [pair(*each) for each in pairs.items()],
        }

    root = f"{1:016x}"
    spans = [
        span(
            2,
            "chat",
            root,
            request__model="demo-large",
            usage__input_tokens=100,
            usage__output_tokens=20,
        ),
        span(3, "execute_tool", root, tool__name="search"),
        span(4, "invoke_agent", root, agent__name="helper"),
        span(1, "invoke_agent", agent__name="shop"),
    ]
    resource = {"attributes": [pair("service.name", "shop")]}
    return {
        "resourceSpans": [
            {
                "resource": resource,
                "scopeSpans": [{"scope": {"name": "day"}, "spans": spans}],
            }
        ]
    }
