"""The bodies of gate checks, verdicts and turns."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from reviews.call_schemas import PolicyName
from reviews.schemas import STEP_MAX, Amount, Body, Kept, Said, Share

GateId = Annotated[str, StringConstraints(max_length=64)]
Content = Annotated[str, Kept]


class GateCheckIn(Body):
    """Gates of the policy by their ids, and gates that the check brings itself.

    `step` left out is the last one reported.
    """

    step: Annotated[int, Field(ge=0, le=STEP_MAX)] | None = None
    gates: Annotated[list[GateId], Field(max_length=50)] = []
    inline: Annotated[list[dict[str, Any]], Field(max_length=50), Kept] = []


class VerdictIn(Body):
    """An object with overall, rationale and per_gate, or the same as text.

    `evidence` are results of commands that criteria ask for; `output` is the work that
    a judge is shown.
    """

    overall: Literal["PASS", "FAIL"] | None = None
    rationale: str | None = None
    per_gate: list[dict[str, Any]] | None = None
    text: str | None = None
    evidence: Annotated[list[dict[str, Any]], Field(max_length=100)] = []
    output: Content = ""


class TurnBody(Body):
    """How a turn of the model ended."""

    finish_reason: Literal["stop", "tool_calls", "length", "content_filter"] | None = (
        None
    )
    tool_calls: Amount = 0
    last_event: Literal["tool_result", "assistant", "user"] = "assistant"
    content: Content = ""
    pending_todos: Amount = 0


class TurnIn(TurnBody):
    """`tool_signature` tells turns that call the same again."""

    tool_signature: Said | None = None


class EvaluateTurnIn(TurnBody):
    """How a turn of the model ended, and the policy to judge it by."""

    policy: PolicyName = "default"
    model: Annotated[str, StringConstraints(max_length=200)] = ""
    recent_tool_ratio: Share = 0.0


class EvaluateVerdictIn(Body):
    """A text that is meant as a verdict."""

    text: str
