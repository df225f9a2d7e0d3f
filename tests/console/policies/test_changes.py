"""Changes in words: what only the text of a policy says differently is no change each."""

from __future__ import annotations

import pytest

from console.policies.changes import list_changes

WRITTEN = {
    "continue": {"max_rework_ratio": 0.3, "repeat_limit": 3, "rework_window": 20}
}


@pytest.mark.parametrize(("before", "after"), [(WRITTEN, {}), ({}, WRITTEN)])
def test_defaults_that_are_written_out_or_no_longer_are_one_line(
    before: dict[str, object], after: dict[str, object]
) -> None:
    (line,) = list_changes(before, after)
    assert line.meaning == "3 defaults are written out, or no longer: their values stay"
    assert (line.path, line.undo, line.effect) == ("", "", "Same")


def test_what_changes_comes_first_each_with_its_own_line() -> None:
    changed = {"continue": {"max_rework_ratio": 0.25}}
    first, last = list_changes(WRITTEN, changed)
    assert (first.path, first.effect) == ("continue.max_rework_ratio", "Pauses sooner")
    assert first.meaning == "Steps, Rework limit: 30 % → 25 %"
    assert last.meaning.startswith("2 defaults")


def test_a_single_one_is_named() -> None:
    (line,) = list_changes({"continue": {"repeat_limit": 3}}, {})
    assert line.meaning == "Steps, Repetitions: 3 times, the default, as before"
    assert line.undo == "undo:continue.repeat_limit"
