"""The policy that is shipped writes out every default, and changes none."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import yaml

from guidance.core.policy import Policy, load_policy
from tests.guidance.core.policy.dumps import dump_policy

SHIPPED = yaml.safe_load(
    (Path(__file__).parents[4] / "guidance/policies/default.yaml").read_text()
)


def test_every_setting_is_written_out_with_its_built_in_value() -> None:
    assert load_policy(SHIPPED).gates
    # The ceiling is left out: so it follows a budget that is changed.
    ceiling = {"budget_ceiling": SHIPPED["budget"]}
    assert dump_policy(Policy()) == {**SHIPPED, **ceiling, "gates": {}}


def test_a_dump_has_every_section() -> None:
    assert list(dump_policy(Policy())) == [
        "continue" if field.name == "continue_limits" else field.name
        for field in fields(Policy)
    ]
