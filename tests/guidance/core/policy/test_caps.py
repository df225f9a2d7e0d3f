"""Caps: what a policy says of them, when one is reached, and what then is decided."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy import Policy, load_policy
from guidance.core.policy.caps import Cap, CapReached, Caps
from guidance.core.review_limit import block_at_cap, stop_at_cap
from guidance.core.tools.calls import CommandCall
from guidance.core.tools.judge_call import judge_call
from guidance.core.tools.section import ToolRules
from tests.guidance.core.builders import walk
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row

FULL = CapReached(scope="agent", count=100, limit=100)


def test_a_policy_stored_before_there_were_caps_still_loads() -> None:
    old = dump_policy(Policy())
    del old["caps"]
    text = to_canonical_json(old)

    assert load_policy(old) == Policy()
    assert hash_text(to_canonical_json(old)) == hash_text(text)


def test_caps_survive_their_document() -> None:
    given = {"caps": {"open_reviews": {"agent": 5}, "notes": {"project": None}}}
    policy = load_policy(given)

    assert policy.caps.open_reviews == Cap(agent=5, project=2_000)
    assert policy.caps.notes == Cap(agent=100, project=None)
    assert load_policy(dump_policy(policy)) == policy


@each_row("name", [field.name for field in fields(Caps)])
def test_every_cap_is_read_strictly(name: str) -> None:
    for scope in ("agent", "project"):
        path = f"caps.{name}.{scope}"
        for wrong in (0, -1, 1_000_001):
            assert problems({"caps": {name: {scope: wrong}}}) == {
                path: "must be from 1 to 1000000"
            }
        for odd in ("5", 1.5, True):
            assert problems({"caps": {name: {scope: odd}}}) == {
                path: "must be a whole number"
            }
    assert problems({"caps": {name: {"team": 1}}}) == {
        f"caps.{name}.team": "unknown key"
    }
    assert problems({"caps": {name: 5}}) == {f"caps.{name}": "must be an object"}
    assert problems({"caps": {f"{name}s": {}}}) == {f"caps.{name}s": "unknown key"}


@pytest.mark.parametrize(
    ("cap", "agent", "project", "reached"),
    [
        (Cap(agent=3, project=5), 2, 4, None),
        (Cap(agent=3, project=5), 3, 3, ("agent", 3, 3)),
        (Cap(agent=3, project=5), 0, 5, ("project", 5, 5)),
        (Cap(agent=3, project=5), 9, 9, ("agent", 9, 3)),
        (Cap(agent=None, project=5), 4, 4, None),
        (Cap(agent=None, project=None), 10**6, 10**6, None),
    ],
)
def test_a_cap_of_n_leaves_room_for_n(
    cap: Cap, agent: int, project: int, reached: Any
) -> None:
    found = cap.find_reached(agent=agent, project=project)
    assert (found and (found.scope, found.count, found.limit)) == reached


def test_a_step_that_would_pause_stops_at_the_cap() -> None:
    paused = walk([{"uncertainty": 0.95}])[-1]
    assert paused.decision == "pause"

    stopped = stop_at_cap(paused, FULL)

    assert stopped.decision == "stop"
    assert [finding.gate for finding in stopped.findings] == [
        "uncertainty",
        "review_limit",
    ]
    assert "100" in stopped.findings[-1].message
    assert "manager" in stopped.recommended_action
    assert (stopped.memory, stopped.used) == (paused.memory, paused.used)
    assert stop_at_cap(paused, None) is paused


def test_a_step_that_needs_nobody_is_left_alone() -> None:
    for coherence in (0.9, 0.1):
        verdict = walk([{"coherence": coherence}])[-1]
        assert stop_at_cap(verdict, FULL) is verdict


def test_a_call_that_needs_a_person_is_blocked_at_the_cap() -> None:
    def judged(command: str) -> Any:
        call = CommandCall(tool="Bash", command=command, arguments=None)
        return judge_call(rules=ToolRules(), call=call, fingerprint_key=b"k")

    asked = judged("git push --force")
    assert asked.decision == "require-confirmation"
    blocked = block_at_cap(asked, FULL)

    assert blocked.decision == "block"
    (finding,) = (f for f in blocked.findings if f.gate == "review_limit")
    assert finding.details == {"scope": "agent", "count": 100, "limit": 100}
    assert "ask again" in (finding.remediation or "")
    assert block_at_cap(asked, None) is asked
    allowed = judged("ls")
    assert block_at_cap(allowed, FULL) is allowed
