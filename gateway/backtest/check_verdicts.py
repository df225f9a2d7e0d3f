"""Stored verdicts on quality gates, judged again by the gates of another policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from guidance.core.checks import (
    CheckState,
    CombinedGates,
    CommandEvidence,
    Evidence,
    GateDefinition,
    GateVerdict,
    JudgeEvidence,
    Outcome,
    Verdict,
    apply_verdict,
    combine,
)
from ledger.backtest.judges import Unknown

Gates = Mapping[str, GateDefinition]
# What becomes of a check whose gates are all gone from the policy.
NOT_CHECKED = "not_checked"
ANOTHER_QUESTION = "the gate asks for something else: the verdict was on another text"
ONE_OF_SEVERAL = "one gate of the check is gone, and the verdict was on all of them"


def judge_stored_check(
    payload: Mapping[str, Any],
    stored: Sequence[GateDefinition],
    *,
    own: Gates,
    draft: Gates,
) -> Outcome | Unknown | None:
    """What the verdict makes of the check by the draft's gates; None: there are none.

    A gate that the check brought itself stays as it was.
    """
    changed = [
        draft.get(gate.slug) if own.get(gate.slug) == gate else gate for gate in stored
    ]
    kept = [gate for gate in changed if gate is not None]
    if not kept:
        return None
    if any(
        after is not None and _get_question(before) != _get_question(after)
        for before, after in zip(stored, changed, strict=True)
    ):
        return Unknown(ANOTHER_QUESTION)
    verdict = _select_gates(_read_verdict(payload["verdict"]), changed)
    if verdict is None:
        return Unknown(ONE_OF_SEVERAL)
    gates = combine(kept)
    return apply_verdict(
        _read_state_before(payload, gates),
        verdict,
        gates=gates,
        evidence=[_read_evidence(each) for each in payload["evidence"]],
    )


def _get_question(gate: GateDefinition) -> tuple[object, ...]:
    """What whoever gives the verdict is asked, and has to prove."""
    return gate.criteria, gate.description, gate.guidance


def _select_gates(
    verdict: Verdict, changed: Sequence[GateDefinition | None]
) -> Verdict | None:
    """The verdict on the gates that are left; None where it does not tell them apart.

    A failure that names no gate, or only gates that are gone, may still be about others.
    """
    numbers = [n for n, gate in enumerate(changed, 1) if gate is not None]
    if len(numbers) == len(changed):
        return verdict
    places = {old: new for new, old in enumerate(numbers, 1)}
    selected = replace(
        verdict,
        per_gate=tuple(
            replace(each, index=places[each.index])
            for each in verdict.per_gate
            if each.index in places
        ),
    )
    return selected if verdict.passed or selected.failed_gates else None


def _read_verdict(document: Mapping[str, Any]) -> Verdict:
    per_gate = tuple(GateVerdict(**each) for each in document["per_gate"])
    return Verdict(**{**document, "per_gate": per_gate})


def _read_evidence(document: Mapping[str, Any]) -> Evidence:
    if "exit_code" in document:
        return CommandEvidence(**document)
    return JudgeEvidence(**document)


def _read_state_before(payload: Mapping[str, Any], gates: CombinedGates) -> CheckState:
    """The check as it was before this verdict, with the attempts that these gates give."""
    after = CheckState.from_json(payload["state"])
    *earlier, last = after.history
    return replace(
        after,
        mode=gates.mode,
        max_attempts=gates.max_attempts,
        status="open",
        attempts=after.attempts - (last.what == "failed"),
        history=tuple(earlier),
    )
