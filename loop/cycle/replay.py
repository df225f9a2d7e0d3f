"""Decisions of the system loop, made again from what they were made on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from guidance.core.canonical import hash_text
from guidance.core.jcs import to_jcs
from guidance.core.loop.facts import Snapshot, Trigger
from guidance.core.loop.guardrail_facts import GuardrailFacts
from guidance.core.loop.guardrails import GUARDRAILS_VERSION, judge_proposal
from guidance.core.loop.proposals import Proposal
from guidance.core.loop.rules import decide_by_rules
from guidance.core.loop.section import LoopSection
from guidance.core.policy import Policy
from guidance.models import PolicyVersion
from guidance.selectors import get_policy
from ledger.state import RunState
from ledger.verification.replay import Difference, ReplayedEntry, register_replay


def register_replays() -> None:
    register_replay("loop.decided", replay_decision)


def replay_decision(item: ReplayedEntry) -> tuple[RunState, Difference | None]:
    found = list_differences(
        item.payload, project_id=item.run.project_id, policy=item.tried
    )
    return item.applied, next((item.build_difference(*each) for each in found), None)


def list_differences(
    payload: Mapping[str, Any], *, project_id: int, policy: Policy | None
) -> Iterator[tuple[str, Any, Any]]:
    """What comes out otherwise: its name, as it is stored, as it came out.

    Each decision names the policy that was in force, unless another is to be tried: then
    only what was decided is compared, not its words. What a model proposed is taken as it
    was: only the guardrails are judged again.
    """
    compared = None if policy is None else ("action", "outcome")
    if policy is None:
        stamp = payload["policy"]
        row = PolicyVersion.objects.filter(
            project_id=project_id, name=stamp["name"], version=stamp["version"]
        ).first()
        found = hash_text(row.document) if row else None
        if row is None or found != stamp["hash"]:
            yield "policy", stamp["hash"], found
            return
        policy = get_policy(row.pk).policy
    if payload["engine"] != GUARDRAILS_VERSION:
        return  # rules grow: what older ones have judged is not held against newer ones
    for name, again in _decide_again(payload, policy.loop).items():
        if compared is not None and name not in compared:
            continue
        if to_jcs(again) != to_jcs(payload[name]):
            yield name, payload[name], again


def _decide_again(payload: Mapping[str, Any], section: LoopSection) -> dict[str, Any]:
    snapshot = Snapshot.from_json(payload["snapshot"])
    stored = payload["proposal"]
    proposal = None if stored is None else Proposal(**stored)
    if payload["decider"] != "llm" and proposal is not None:
        trigger = Trigger(**payload["trigger"])
        proposal = decide_by_rules(section.rules, trigger=trigger, snapshot=snapshot)
    facts = GuardrailFacts.from_json(payload["facts"])
    return {
        "state_hash": snapshot.state_hash,
        "proposal": None if proposal is None else proposal.to_json(),
        **judge_proposal(section, proposal, facts).to_json(),
    }
