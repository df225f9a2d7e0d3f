"""What the entries of gate checks and turns say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from console.format import format_compact, format_count, format_exact_money
from console.runs.sentences.runs import Line
from safetext import make_visible_line

_OUTCOMES = {
    "passed": ("check", "go", "Gate passed"),
    "retry": ("retry", "pause", "Gate not passed, retry"),
    "warned": ("alert", "slow", "Gate not passed, warning kept"),
    "logged": ("dot", "mute", "Gate not passed, logged"),
    "exhausted": ("unpassed", "stop", "Gate not passed, out of attempts"),
}
_TURNS = {
    "auto_continue": ("retry", "slow", "Turn ended early, agent told to continue"),
    "warn": ("alert", "pause", "Turn may have ended early"),
    "finish": ("check", "mute", "Turn finished"),
    "needs_human": ("question", "pause", "Turn needs a person"),
    "in_progress": ("dot", "mute", "Turn in progress"),
}


def describe_opened_check(payload: Mapping[str, Any]) -> Line:
    state = payload["state"]
    attempts = format_count(state["max_attempts"], "attempt")
    return Line(
        icon="shield",
        tone="mute",
        head="Gate check opened",
        text=", ".join(make_visible_line(gate["name"]) for gate in payload["gates"]),
        why=(f"{state['mode']}, {attempts}",),
    )


def describe_verdict(payload: Mapping[str, Any]) -> Line:
    """With how often it may be tried, what was not proven, and what each gate got."""
    icon, tone, head = _OUTCOMES[payload["outcome"]]
    state = payload["state"]
    why = []
    if payload["outcome"] in {"retry", "exhausted"}:
        why.append(f"attempt {state['attempts']} of {state['max_attempts']}")
    if payload["unproven"]:
        why.append(f"PASS without proof of {', '.join(payload['unproven'])}")
    why += [
        f"gate {entry['index']}: {make_visible_line(entry['rationale'])}"
        for entry in payload["verdict"]["per_gate"]
        if not entry["passed"]
    ]
    return Line(
        icon=icon,
        tone=tone,
        head=head,
        text=make_visible_line(payload["verdict"]["rationale"]),
        why=tuple(why),
    )


_ASKED = {"judge": "Judge asked", "first_look": "Model asked to look first"}


def describe_model_request(payload: Mapping[str, Any]) -> Line:
    """A question of the server's own: to which model, and what it cost."""
    cost = payload["cost_micros"]
    trouble = payload["trouble"]
    return Line(
        icon="shield",
        tone="slow" if trouble else "mute",
        head=_ASKED[payload["purpose"]],
        text=make_visible_line(payload["model"]),
        why=(
            "no price is known" if cost is None else format_exact_money(cost),
            *((make_visible_line(trouble),) if trouble else ()),
        ),
        tokens=format_compact(payload["tokens_in"] + payload["tokens_out"]),
    )


def describe_acknowledgement(payload: Mapping[str, Any]) -> Line:
    return Line(
        icon="eye",
        tone="mute",
        head="Warning acknowledged",
        text=make_visible_line(payload["text"]),
    )


def describe_turn(payload: Mapping[str, Any]) -> Line:
    """The agent's words, and why they were taken so."""
    verdict, facts = payload["verdict"], payload["facts"]
    icon, tone, head = _TURNS[verdict["action"]]
    return Line(
        icon=icon,
        tone=tone,
        head=head,
        text=make_visible_line(facts["content"]),
        why=(make_visible_line(verdict["reason"]),),
    )
