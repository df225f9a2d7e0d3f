"""The rules: the first that fits decides, and what is not known fits nothing."""

from __future__ import annotations

from typing import Any

from guidance.core.loop.rules import decide_by_rules
from tests.guidance.core.loop.builders import section, snapshot, trigger
from tests.support.rows import each_row

KINDS = [{"name": "repair", "destructive": False}]
FAILED = "agent/loop.failed"


def make_rule(when: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "one", "when": when, "do": "process_notes", "reason": "so", **more}


def fits(when: dict[str, Any], asked: Any = None, seen: Any = None) -> bool:
    rules = section(rules=[make_rule(when)]).rules
    chosen = decide_by_rules(
        rules, trigger=asked or trigger(), snapshot=seen or snapshot()
    )
    return chosen.action == "process_notes"


LOG = [{"type": "run.failed"}, {"type": "run.failed"}, {"type": "run.completed"}]
HALF = {"paused": 2, "stopped": 1}


@each_row(
    ("when", "asked", "seen", "fitting"),
    [
        ({}, trigger(), snapshot(), True),
        ({"trigger": [FAILED]}, trigger(FAILED), snapshot(), True),
        ({"trigger": [FAILED]}, trigger("wake"), snapshot(), False),
        ({"data": {"a.b": 1}}, trigger(a={"b": 1}), snapshot(), True),
        ({"data": {"a.b": 1}}, trigger(a={"b": True}), snapshot(), False),
        ({"data": {"a.b": 1}}, trigger(a=[1]), snapshot(), False),
        ({"data": {"a": ["x", "y"]}}, trigger(a="y"), snapshot(), True),
        (
            {"data": {"a": {"at_least": 2, "at_most": 3}}},
            trigger(a=3),
            snapshot(),
            True,
        ),
        ({"data": {"a": {"at_most": 3}}}, trigger(a=4), snapshot(), False),
        ({"data": {"a": {"at_most": 3}}}, trigger(a="1"), snapshot(), False),
        ({"data": {"a": {"at_most": 3}}}, trigger(), snapshot(), False),
        (
            {"snapshot": {"note_queue_length": {"at_least": 1}}},
            trigger(),
            snapshot(note_queue_length=1),
            True,
        ),
        (
            {"snapshot": {"note_queue_length": {"at_least": 1}}},
            trigger(),
            snapshot(note_queue_length=1, stale=("note_queue_length",)),
            False,
        ),
        (
            {"snapshot": {"half_done": 3, "half_done.paused": 2}},
            trigger(),
            snapshot(half_done=HALF),
            True,
        ),
        ({"snapshot": {"half_done.eaten": 0}}, trigger(), snapshot(), False),
        (
            {"snapshot": {"recent_log_entries.run.failed": 2, "recent_log_entries": 3}},
            trigger(),
            snapshot(recent_log_entries=LOG),
            True,
        ),
    ],
)
def test_what_fits(when: Any, asked: Any, seen: Any, fitting: bool) -> None:
    assert fits(when, asked, seen) is fitting


def test_the_first_rule_that_fits_decides() -> None:
    rules = section(
        rules=[
            make_rule({"trigger": ["wake"]}, name="not this"),
            make_rule({}, name="this", do="do_nothing", reason="early"),
            make_rule({}, name="nor this"),
        ]
    ).rules
    chosen = decide_by_rules(rules, trigger=trigger(), snapshot=snapshot())
    assert (chosen.rule, chosen.action, chosen.reasoning) == (
        *("this", "do_nothing", "early"),
    )


def test_where_none_fits_nothing_is_done_and_that_has_a_reason() -> None:
    chosen = decide_by_rules((), trigger=trigger("wake"), snapshot=snapshot())
    assert (chosen.action, chosen.rule) == ("do_nothing", "")
    assert "wake" in chosen.reasoning


def repair(**more: Any) -> Any:
    rule = make_rule({}, do="start_loop", kind="repair", **more)
    return section(kinds=KINDS, rules=[rule]).rules


def test_places_are_filled_and_a_place_alone_keeps_its_kind() -> None:
    rules = repair(
        parameters={"n": "{data.n}", "deep": [{"t": "{data.who}: {trigger}"}]},
        reason="{note_queue_length} notes of {data.who}, {data.n} times",
    )
    asked = trigger("wake", n=3, who="robo")
    chosen = decide_by_rules(
        rules, trigger=asked, snapshot=snapshot(note_queue_length=2)
    )
    assert chosen.parameters == {"n": 3, "deep": [{"t": "robo: wake"}]}
    assert chosen.reasoning == "2 notes of robo, 3 times"


def test_a_place_with_nothing_to_fill_it_makes_the_rule_unfit() -> None:
    rules = repair(reason="{data.who} failed")
    for asked in (trigger(), trigger(who=None), trigger(whom="x")):
        chosen = decide_by_rules(rules, trigger=asked, snapshot=snapshot())
        assert chosen.action == "do_nothing"


def test_what_is_filled_in_is_bounded_and_not_filled_again() -> None:
    rules = repair(reason="{data.a}{data.b}", parameters={"x": "- {data.a}"})
    asked = trigger(a="{data.b}", b="y" * 5_000)
    chosen = decide_by_rules(rules, trigger=asked, snapshot=snapshot())
    assert chosen.parameters == {"x": "- {data.b}"}
    assert chosen.reasoning == "{data.b}" + "y" * 300


def test_the_same_values_are_the_same_state_whenever_they_were_read() -> None:
    before = snapshot(active_runs=1)
    assert before.state_hash == snapshot(active_runs=1, stale=("half_done",)).state_hash
    assert before.state_hash != snapshot(active_runs=2).state_hash
    assert type(before).from_json(before.to_json()) == before
