"""Caps: what a policy says of them, when one is reached, and what then is decided."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy import Policy, load_policy
from guidance.core.policy.caps import Cap, CapReached, Caps, ReviewCap
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

    assert policy.caps.open_reviews == ReviewCap(
        agent=5, project=2_000, project_per_agent=2, critical_share=0.1
    )
    assert policy.caps.notes == Cap(agent=100, project=None)
    assert load_policy(dump_policy(policy)) == policy


@each_row(
    "given, each",
    [
        ({}, 2),
        ({"agent": 7}, 2),
        ({"project": 50}, 0),
        ({"project": None}, 0),
        ({"project": 50, "project_per_agent": 3}, 3),
        ({"project_per_agent": 0}, 0),
    ],
)
def test_a_cap_that_people_chose_grows_only_if_they_say_so(
    given: dict[str, int | None], each: int
) -> None:
    caps = load_policy({"caps": {"open_reviews": given}}).caps
    assert caps.open_reviews.project_per_agent == each


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
    each = f"caps.{name}.project_per_agent"
    for wrong in (-1, 1_001):
        assert problems({"caps": {name: {"project_per_agent": wrong}}}) == {
            each: "must be from 0 to 1000"
        }
    assert problems({"caps": {name: {"team": 1}}}) == {
        f"caps.{name}.team": "unknown key"
    }
    assert problems({"caps": {name: 5}}) == {f"caps.{name}": "must be an object"}
    assert problems({"caps": {f"{name}s": {}}}) == {f"caps.{name}s": "unknown key"}


def test_no_more_than_half_is_kept_for_critical_reviews() -> None:
    path = "caps.open_reviews.critical_share"
    for wrong in (-0.1, 0.6):
        given = {"caps": {"open_reviews": {"critical_share": wrong}}}
        assert problems(given) == {path: "must be from 0 to 0.5"}
    given = {"caps": {"open_runs": {"critical_share": 0.1}}}
    assert problems(given) == {"caps.open_runs.critical_share": "unknown key"}


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
    found = cap.find_reached(agent=agent, project=project, agents=900)
    assert (found and (found.scope, found.count, found.limit)) == reached


@pytest.mark.parametrize(("agents", "limit"), [(0, 5), (2, 5), (3, 6), (5_000, 10_000)])
def test_the_cap_of_a_project_fits_its_fleet(agents: int, limit: int) -> None:
    cap = Cap(agent=None, project=5, project_per_agent=2)
    assert cap.find_reached(agent=0, project=limit - 1, agents=agents) is None
    reached = cap.find_reached(agent=0, project=limit, agents=agents)
    assert reached is not None
    assert (reached.limit, reached.agents) == (limit, agents)
    unlimited = Cap(agent=None, project=None, project_per_agent=2)
    assert unlimited.find_reached(agent=0, project=10**9, agents=agents) is None


@pytest.mark.parametrize(
    ("project", "critical", "other"),
    [(79, None, None), (80, None, 20), (99, None, 20), (100, 0, 0), (101, 0, 0)],
)
def test_the_last_places_are_kept_for_what_is_critical(
    project: int, critical: int | None, other: int | None
) -> None:
    cap = ReviewCap(agent=10, project=100, critical_share=0.2)
    room = cap.find_room(agent=0, project=project, agents=0)
    found = [room.find_reached(severity) for severity in ("critical", "high", "low")]
    assert [each and each.kept for each in found] == [critical, other, other]
    full = cap.find_room(agent=10, project=project, agents=0).find_reached("critical")
    assert full is not None
    assert full.scope == "agent"


@pytest.mark.parametrize(
    ("share", "limit", "kept"), [(0.29, 100, 29), (0.1, 9, 0), (0.1, 10, 1), (0, 50, 0)]
)
def test_of_a_handful_none_is_kept(share: float, limit: int, kept: int) -> None:
    cap = ReviewCap(agent=None, project=limit, critical_share=share)
    assert cap.count_kept(limit) == kept


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
