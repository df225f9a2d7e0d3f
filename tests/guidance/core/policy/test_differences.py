"""Two policy documents, compared path by path."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.policy.differences import list_differences
from tests.support.rows import each_row

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)
DOCUMENTS = st.dictionaries(st.text(max_size=2), VALUES, max_size=4)


@each_row(
    ("before", "after", "told"),
    [
        ({}, {}, []),
        ({"a": {"b": 1}}, {"a": {"b": 1}}, []),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, [("a.b", "changed", 1, 2)]),
        ({"a": [1]}, {"a": []}, [("a", "changed", [1], [])]),
        (
            {},
            {"a": {"b": 1, "c": 2}},
            [("a.b", "added", None, 1), ("a.c", "added", None, 2)],
        ),
        ({"a": {"b": 1}}, {}, [("a.b", "removed", 1, None)]),
        ({"a": None}, {}, [("a", "removed", None, None)]),
        ({}, {"a": None}, [("a", "added", None, None)]),
        ({}, {"a": {}}, [("a", "added", None, {})]),
        ({"a": {}}, {}, [("a", "removed", {}, None)]),
        ({"a": {}}, {"a": {"b": 1}}, [("a.b", "added", None, 1)]),
        ({"a": 1}, {"a": {"b": 1}}, [("a", "changed", 1, {"b": 1})]),
        ({"a": 1}, {"a": True}, [("a", "changed", 1, True)]),
        ({"a": 1}, {"a": 1.0}, [("a", "changed", 1, 1.0)]),
        ({}, {"a": {"b.c": 1}}, [('a."b.c"', "added", None, 1)]),
        ({}, {"git-*": 1}, [("git-*", "added", None, 1)]),
    ],
)
def test_differences(
    before: dict[str, Any], after: dict[str, Any], told: list[tuple[Any, ...]]
) -> None:
    found = [
        (one.path, one.change, one.before, one.after)
        for one in list_differences(before, after)
    ]
    assert found == told


@given(DOCUMENTS, DOCUMENTS)
def test_there_is_a_difference_exactly_where_documents_differ(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert list_differences(before, before) == []
    same = repr(_sort(before)) == repr(_sort(after))
    assert bool(list_differences(before, after)) == (not same)


def _sort(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sort(value[key]) for key in sorted(value)}
    return [_sort(one) for one in value] if isinstance(value, list) else value
