"""The loop section of a policy: its defaults, its bounds, and what it may not say."""

from __future__ import annotations

from typing import Any

from guidance.core.loop.section import Signals
from guidance.core.policy import Policy, load_policy
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row

RULE = {"name": "r", "when": {}, "do": "process_notes", "reason": "so"}
FULL: dict[str, Any] = {
    "heartbeat_s": 60,
    "min_gap_s": 0,
    "decider": "shadow",
    "caps_per_hour": {"start_loop": 0},
    "cost_per_day_usd": None,
    "signals_from": {"run_ends": False},
    "kinds": [
        {
            "name": "nightly-tests",
            "description": "All of them",
            "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
            "destructive": [{"parameter": "*", "pattern": "prod"}],
        },
        {"name": "x"},
    ],
    "rules": [
        {
            "name": "r",
            "when": {
                "trigger": ["wake"],
                "data": {"a": "x", "b": [1, 2], "c": {"at_least": 1}},
                "snapshot": {"half_done.paused": {"at_least": 1, "at_most": 9}},
            },
            "do": "start_loop",
            "kind": "x",
            "parameters": {"n": "{data.n}"},
            "reason": "{half_done} of {data.n} after {trigger}",
        }
    ],
}


def test_a_policy_stored_before_there_was_a_loop_still_loads() -> None:
    old = dump_policy(Policy())
    del old["loop"]
    assert load_policy(old) == Policy()


def test_a_section_survives_its_document() -> None:
    policy = load_policy({"loop": FULL})
    assert load_policy(dump_policy(policy)) == policy
    assert policy.loop.caps_per_hour["start_loop"] == 0
    assert policy.loop.caps_per_hour["emit_alert"] == 12
    assert policy.loop.signals_from == Signals(run_ends=False, rulings=True)


def test_no_rules_at_all_is_not_the_same_as_saying_nothing_about_them() -> None:
    assert load_policy({"loop": {"rules": []}}).loop.rules == ()


@each_row(
    ("name", "low", "high"),
    [
        ("heartbeat_s", 600, 86_400),
        ("min_gap_s", 0, 900),
        ("cascade_limit", 0, 100),
        ("dedupe_s", 0, 86_400),
        ("stale_after_s", 1, 86_400),
        ("notes_at_once", 1, 100),
        ("note_claim_s", 1, 86_400),
    ],
)
def test_figures_may_reach_their_bounds_and_not_pass_them(
    name: str, low: int, high: int
) -> None:
    for bound in (low, high):
        assert getattr(load_policy({"loop": {name: bound}}).loop, name) == bound
    for beyond in (low - 1, high + 1, "60", True, None):
        found = problems({"loop": {name: beyond}})
        assert {f"loop.{name}", "loop.min_gap_s"} & set(found)


def rule(**more: Any) -> dict[str, Any]:
    return {"loop": {"kinds": [{"name": "x"}], "rules": [{**RULE, **more}]}}


@each_row(
    ("document", "path"),
    [
        ({"loop": []}, "loop"),
        ({"loop": {"typo": 1}}, "loop.typo"),
        ({"loop": {"decider": "dice"}}, "loop.decider"),
        (
            {"loop": {"caps_per_hour": {"do_nothing": 1}}},
            "loop.caps_per_hour.do_nothing",
        ),
        (
            {"loop": {"caps_per_hour": {"start_loop": -1}}},
            "loop.caps_per_hour.start_loop",
        ),
        ({"loop": {"signals_from": {"typo": True}}}, "loop.signals_from.typo"),
        ({"loop": {"kinds": [{"name": "No"}]}}, "loop.kinds.0.name"),
        ({"loop": {"kinds": [{"name": "x"}, {"name": "x"}]}}, "loop.kinds.1.name"),
        (
            {"loop": {"kinds": [{"name": "x", "parameters": {"type": 5}}]}},
            "loop.kinds.0.parameters",
        ),
        (
            {"loop": {"kinds": [{"name": "x", "destructive": "yes"}]}},
            "loop.kinds.0.destructive",
        ),
        (
            {
                "loop": {
                    "kinds": [
                        {
                            "name": "x",
                            "destructive": [{"parameter": "a", "pattern": "(?=a)"}],
                        }
                    ]
                }
            },
            "loop.kinds.0.destructive.0.pattern",
        ),
        (rule(do="drop_tables"), "loop.rules.0.do"),
        (rule(do="start_loop"), "loop.rules.0.kind"),
        (rule(do="start_loop", kind="y"), "loop.rules.0.kind"),
        (rule(kind="x"), "loop.rules.0.kind"),
        (rule(reason=""), "loop.rules.0.reason"),
        (rule(reason="{nobody.knows}"), "loop.rules.0.reason"),
        (rule(when={"trigger": ["cron"]}), "loop.rules.0.when.trigger.0"),
        (rule(when={"snapshot": {"typo": 1}}), "loop.rules.0.when.snapshot.typo"),
        (rule(when={"data": {"a": {"more_than": 1}}}), "loop.rules.0.when.data.a"),
        (rule(when={"data": {"a": {"at_least": "1"}}}), "loop.rules.0.when.data.a"),
        (rule(when={"data": {"a": []}}), "loop.rules.0.when.data.a"),
        (rule(when={"unless": {}}), "loop.rules.0.when.unless"),
        (rule(typo=1), "loop.rules.0.typo"),
    ],
)
def test_what_is_wrong_is_named_with_its_path(document: Any, path: str) -> None:
    assert path in problems(document)
