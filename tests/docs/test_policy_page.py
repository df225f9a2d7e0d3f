"""docs/policy.md has every setting of a policy, with its default and its bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
# What a policy may say of it has no default of its own.
NOT_BY_DEFAULT = {"reviews.deadlines.severity.*.expires_after_s"}


def test_every_section_is_listed_with_the_keys_that_another_page_describes() -> None:
    rows = table_under(POLICY, first_column="section")
    assert [code(row[0]) for row in rows] == list(DEFAULT)
    for section, text in rows:
        if code(section) in ELSEWHERE:
            listed = re.findall(r"`(\w+)`", text.split("Read from")[0])
            assert listed == list(DEFAULT[code(section)]), section
            assert ".md#" in text


def test_every_other_setting_is_listed_with_its_default() -> None:
    found = {
        f"{section}.{key}": value
        for section, values in DEFAULT.items()
        if section not in ELSEWHERE
        for key, value in list_settings(values)
    }
    assert {fit_row(name) for name in found} | NOT_BY_DEFAULT == set(ROWS)
    for name, value in found.items():
        if name in ROWS and not isinstance(value, list | dict):
            given = ROWS[name][0].strip('`"')
            ceiling = name.startswith("budget_ceiling.")
            key = name.partition(".")[2]
            assert given == (f"as `budget.{key}" if ceiling else show(value)), name


def test_the_bounds_of_every_number_are_the_real_ones() -> None:
    numbers = {name: row[1] for name, row in ROWS.items() if row[0][0].isdigit()}
    assert numbers
    for name, takes in numbers.items():
        bounds = re.match(r"(\d+) to ([\d,]+)", takes)
        assert bounds is not None, name
        high = int(bounds[2].replace(",", ""))
        document: Any = high + 1
        for key in reversed(name.split(".")):
            document = {key: document}
        assert problems(document) == {name: f"must be from {bounds[1]} to {high}"}


def list_settings(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each value with its keys, joined by dots."""
    for key, value in values.items():
        if isinstance(value, dict) and value:
            for below, each in list_settings(value):
                yield f"{key}.{below}", each
        else:
            yield key, value


def fit_row(name: str) -> str:
    """The row of this setting: its own, one with a `*` for a key, or one of all below it."""
    for row in ROWS:
        pattern = re.escape(row).replace(r"\*", r"\w+")
        if re.fullmatch(rf"{pattern}(\.\w+)?", name):
            return row
    raise AssertionError(f"{name} has no row")


def show(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else str(value)
