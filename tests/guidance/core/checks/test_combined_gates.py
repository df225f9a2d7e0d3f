"""Several gates of one check: the strictest mode, the fewest attempts, each gate once."""

from __future__ import annotations

from itertools import permutations

import pytest

from guidance.core.checks import Refused, choose_gates, combine
from tests.guidance.core.checks.builders import (
    COMMAND,
    JUDGE,
    check,
    choice_problems,
    gate,
    retrying,
)
from tests.support.rows import each_row

POLICY = {name: gate(name, severity="high") for name in ("one", "two", "three")}


def list_chosen(*named: str, inline: tuple[object, ...] = ()) -> list[str]:
    found = choose_gates(named=named, inline=inline, policy=POLICY)
    return [gate.slug for gate in found.gates]


@each_row(
    ("modes", "strictest"),
    [
        (("informational",), "informational"),
        (("informational", "advisory"), "advisory"),
        (("advisory", "blocking"), "blocking"),
        (("informational", "advisory", "blocking"), "blocking"),
    ],
)
def test_the_strictest_mode_in_any_order(
    modes: tuple[str, ...], strictest: str
) -> None:
    for order in permutations(modes):
        assert check(*(gate(mode, mode=mode) for mode in order)).mode == strictest


def test_vr_42_the_lowest_number_of_attempts() -> None:
    gates = [retrying(f"of-{most}", max_attempts=most) for most in (5, 2, 3)]
    for order in permutations(gates):
        assert check(*order).max_attempts == 2


def test_gs_01_the_same_gate_counts_once() -> None:
    assert list_chosen("two", "one", "two") == ["two", "one"]
    assert list_chosen("two", inline=(POLICY["two"].to_json(),)) == ["two"]
    own = gate("own").to_json()
    assert list_chosen("two", inline=(own, own)) == ["two", "own"]
    assert combine([gate("a"), gate("a")]).gates == (gate("a"),)


def test_gs_01_an_id_never_has_two_definitions() -> None:
    """Else an agent could bring a milder gate under a name that people trust."""
    milder = {"id": "two", "severity": "low"}
    policy = tuple(POLICY.values())
    for named in ((), ("two",)):
        problems = choice_problems(*named, inline=(milder,), policy=policy)
        assert problems == {"inline.0.id": "a gate of the policy has this id"}
    own = ({"id": "own"}, {"id": "own", "severity": "low"})
    assert set(choice_problems(inline=own, policy=policy)) == {"inline.1.id"}
    with pytest.raises(Refused, match="two ways"):
        combine([gate("a"), gate("a", severity="low")])


def test_gs_02_gates_of_both_sources_stay_in_their_order() -> None:
    own = gate("own", severity="critical").to_json()
    assert list_chosen("three", "one", inline=(own,)) == ["three", "one", "own"]


@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_gs_03_a_blank_id_is_refused(blank: str) -> None:
    problems = choice_problems("one", blank, policy=(POLICY["one"],))
    assert problems == {"gates.1": "the id of a gate is blank"}


def test_gs_12_all_orders_make_the_same_set() -> None:
    gates = [
        gate("a", mode="blocking", criteria=[COMMAND]),
        gate("b", mode="advisory", retry={"max_attempts": 1}),
        gate("c", mode="informational", criteria=[JUDGE, "x"]),
    ]
    seen = {
        (
            frozenset(gate.slug for gate in made.gates),
            made.mode,
            made.max_attempts,
            frozenset(made.verified),
        )
        for made in (combine(order) for order in permutations(gates))
    }
    assert seen == {
        (frozenset("abc"), "blocking", 1, frozenset({"a.1", "c.1"})),
    }


def test_unknown_and_wrong_gates_are_refused_all_at_once() -> None:
    problems = choice_problems(
        "nowhere", "Bad_Id", inline=(3, {"id": "x", "mode": "mild"})
    )
    assert set(problems) == {"gates.0", "gates.1", "inline.0", "inline.1.mode"}
    assert "no gate with this id" in problems["gates.0"]


def test_a_check_has_one_gate_at_least_and_fifty_at_most() -> None:
    assert set(choice_problems()) == {"gates"}
    fifty = [gate(f"g-{number}") for number in range(50)]
    assert len(check(*fifty).gates) == 50
    with pytest.raises(Refused, match="at most 50"):
        check(*fifty, gate("one-more"))


def test_hints_are_the_first_three_criteria_of_the_gates_that_failed() -> None:
    gates = check(
        gate("a", criteria=["a1", "a2"]),
        gate("b", criteria=["b1", "a1", "b2"]),
        gate("c", criteria=["c1"], retry={"improvement_hints": False}),
    )
    assert gates.list_hints() == ("a1", "a2", "b1")
    assert gates.list_hints([2]) == ("b1", "a1", "b2")
    assert gates.list_hints([3]) == ()
    assert gates.list_hints([3, 1]) == ("a1", "a2")


def test_vr_35_without_criteria_the_first_line_of_the_guidance_else_the_description() -> (
    None
):
    fields = {"description": "What it is.", "guidance": "Look here.\nAnd there."}
    assert check(gate(**fields)).list_hints() == ("Look here.",)
    assert check(gate(description="What it is.")).list_hints() == ("What it is.",)
    assert check(gate()).list_hints() == ()


def test_evidence_names_a_criterion_by_its_gate_and_place() -> None:
    gates = check(gate("a", criteria=["x", COMMAND]), gate("b", criteria=[JUDGE]))
    assert {name: c.verifier for name, c in gates.verified.items()} == {
        "a.2": "command",
        "b.1": "judge",
    }
