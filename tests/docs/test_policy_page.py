"""docs/policy.md has every setting of a policy, with its default and its bounds."""

from __future__ import annotations

import re
from typing import Any

from guidance.core.policy import Policy
from tests.docs.markdown import code, read_page, table_under
from tests.guidance.core.policy.dumps import dump_policy
from tests.guidance.core.policy.refusals import problems

POLICY = read_page("docs/policy.md")
DEFAULT: dict[str, Any] = dump_policy(Policy())
ROWS = {code(row[0]): row[1:] for row in table_under(POLICY, first_column="setting")}
# Sections that have a page of their own: there every key has a row.
ELSEWHERE = ("tools", "gates", "evaluators", "turns", "loop", "caps", "prices")


def test_every_section_is_listed_with_the_keys_that_another_page_describes() -> None:
    rows = table_under(POLICY, first_column="section")
    assert [code(row[0]) for row in rows] == list(DEFAULT)
    for section, text in rows:
        if code(section) in ELSEWHERE:
            listed = re.findall(r"`(\w+)`", text.split("Read from")[0])
            assert listed == list(DEFAULT[code(section)]), section
            assert ".md#" in text


def test_every_other_setting_is_listed_with_its_default() -> None:
    assert {name: row[0].strip('`"') for name, row in ROWS.items()} == {
        f"{section}.{key}": show(value)
        if section != "budget_ceiling"
        else f"as `budget.{key}"
        for section, values in DEFAULT.items()
        if section not in ELSEWHERE
        for key, value in values.items()
    }


def test_the_bounds_of_every_number_are_the_real_ones() -> None:
    numbers = {name: row[1] for name, row in ROWS.items() if row[0][0].isdigit()}
    assert numbers
    for name, takes in numbers.items():
        bounds = re.match(r"(\d+) to ([\d,]+)", takes)
        assert bounds is not None, name
        section, key = name.split(".")
        high = int(bounds[2].replace(",", ""))
        assert problems({section: {key: high + 1}}) == {
            name: f"must be from {bounds[1]} to {high}"
        }


def show(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        assert not any(value.values())
        return "no limit"
    return f"{value:,}" if isinstance(value, int) else str(value)
