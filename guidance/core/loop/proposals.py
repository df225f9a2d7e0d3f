"""A proposal: the one action that a decider wants, and whether it can be done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from guidance.core.arguments import ArgumentProblem, Schema, read_arguments
from guidance.core.canonical import to_canonical_json
from guidance.core.loop.alerts import ALERT_SCHEMA
from guidance.core.loop.kinds import LoopKind
from guidance.core.loop.vocabulary import ACTIONS, DO_NOTHING

REASONING_LIMIT = 1_000
# An event has to fit into one message of every channel.
PARAMETERS_LIMIT = 8_192
_CODE = {"type": "string", "minLength": 36, "maxLength": 36}
# What the other actions take; start_loop takes what its kind says.
_PARAMETERS = {
    "process_notes": Schema({"type": "object", "additionalProperties": False}),
    "apply_retro_recommendation": Schema(
        {
            "type": "object",
            "properties": {"recommendation": _CODE},
            "additionalProperties": False,
        }
    ),
    "emit_alert": Schema(ALERT_SCHEMA),
    DO_NOTHING: Schema({"type": "object", "additionalProperties": False}),
}

# How a model answers. Servers that enforce a schema know no free objects, so that the
# parameters are a text with JSON in it.
ANSWER_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(ACTIONS)},
        "kind": {"type": "string"},
        "parameters": {"type": "string"},
        "reasoning": {"type": "string"},
    },
    "required": ["action", "kind", "parameters", "reasoning"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """`kind` is the loop to start; `rule` the rule that wants it, empty for a model."""

    action: str
    kind: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reasoning: str
    rule: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "action": self.action,
            "kind": self.kind,
            "parameters": dict(self.parameters),
            "reasoning": self.reasoning,
            "rule": self.rule,
        }


def find_proposal_problem(
    proposal: Proposal, kinds: Mapping[str, LoopKind]
) -> str | None:
    """Why it cannot be carried out, whoever proposed it; None if it can."""
    if proposal.action not in ACTIONS:
        return f"the action is not one of {', '.join(ACTIONS)}"
    if not proposal.reasoning.strip():
        return "no reason is given"
    if len(to_canonical_json(proposal.parameters).encode()) > PARAMETERS_LIMIT:
        return f"the parameters are longer than {PARAMETERS_LIMIT:,} bytes"
    if proposal.action != "start_loop":
        if proposal.kind is not None:
            return f"{proposal.action} takes no kind"
        found = _PARAMETERS[proposal.action].list_problems(proposal.parameters)
        return f"parameters{found[0].path}: {found[0].message}" if found else None
    kind = kinds.get(proposal.kind or "")
    if kind is None:
        known = ", ".join(kinds) or "none"
        return f"the policy has no loop of this kind (it has: {known})"
    return kind.find_problem(proposal.parameters)


def read_answer(document: Mapping[str, Any]) -> Proposal | str:
    """A model's answer as a proposal, or what is wrong with it."""
    parameters = document["parameters"].strip()
    read = read_arguments(parameters or "{}")
    if isinstance(read, ArgumentProblem):
        return f"the parameters cannot be read: {read.message}"
    reasoning = " ".join(document["reasoning"].split())
    return Proposal(
        action=document["action"],
        kind=document["kind"] or None,
        parameters=read.values,
        reasoning=reasoning[:REASONING_LIMIT],
    )
