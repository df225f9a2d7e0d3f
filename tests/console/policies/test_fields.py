"""The editor's form: YAML, form and YAML again lose nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from console.policies.drafts import build_undo
from console.policies.fields import (
    ABSENT,
    FieldRefused,
    list_fields,
    parse_text,
    read_value,
)
from guidance.core.policy.differences import list_differences
from guidance.core.policy.meaning import split_path
from guidance.core.policy.schema import POLICY_SCHEMA
from guidance.yaml_documents import parse_yaml, write_yaml
from guidance.yaml_edits import REMOVED, change_yaml, set_value
from tests.guidance.core.policy.test_schema import JUNK, build_values, list_places
from tests.support.examples import examples

SHIPPED = Path("guidance/policies/default.yaml").read_text()


def dump(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def strip_empty(value: Any) -> Any:
    """An object that holds nothing says nothing: whether it is there does not count."""
    if not isinstance(value, dict):
        return value
    inner = {key: strip_empty(each) for key, each in value.items()}
    return {key: each for key, each in inner.items() if each != {}}


@examples(100)
@given(st.data())
def test_a_document_is_built_again_from_its_fields_alone(data: st.DataObject) -> None:
    document = data.draw(build_values(dict(POLICY_SCHEMA)))
    places = [*list_places(document)]
    one_is_wrong: bool = data.draw(st.booleans())
    if places and one_is_wrong:
        around, key = data.draw(st.sampled_from(places))
        around[key] = data.draw(JUNK)
    text = write_yaml(document)
    assert dump(parse_yaml(text).document) == dump(document)
    built: dict[str, Any] = {}
    for field in list_fields(document):
        # A browser sends line ends in its own way.
        value = field.parse(field.text.replace("\n", "\r\n"))
        if value is not ABSENT:
            built = set_value(built, field.keys, value)
    assert dump(strip_empty(built)) == dump(strip_empty(document))


@examples(60)
@given(st.data())
def test_one_value_changed_in_the_text_changes_only_this_one(
    data: st.DataObject,
) -> None:
    document = data.draw(build_values(dict(POLICY_SCHEMA)))
    text = data.draw(st.sampled_from([write_yaml(document), SHIPPED, ""]))
    before = parse_yaml(text).document
    field = data.draw(st.sampled_from(list_fields(before)))
    value = data.draw(st.one_of(JUNK, st.just(REMOVED)))
    after = parse_yaml(change_yaml(text, {field.keys: value})).document
    assert dump(after) == dump(set_value(before, field.keys, value))


@examples(60)
@given(st.data())
def test_undoing_a_change_takes_back_this_one_alone(data: st.DataObject) -> None:
    in_force = data.draw(build_values(dict(POLICY_SCHEMA)))
    document = data.draw(build_values(dict(POLICY_SCHEMA)))
    changes = list_differences(in_force, document)
    while changes:
        undone = data.draw(st.sampled_from(changes))
        keys = tuple(split_path(undone.path))
        for there, value in build_undo(document, in_force, keys).items():
            document = set_value(document, there, value)
        changes = [each for each in changes if each != undone]
        assert list_differences(in_force, document) == changes
    assert dump(document) == dump(in_force)


def test_comments_and_order_stay_where_a_value_is_changed_or_added() -> None:
    text = 'continue: # steps\n  repeat_limit: 3  # often\nbudget: {cost_usd: "1.00"}\n'
    assert change_yaml(text, {("continue", "repeat_limit"): 4}) == text.replace(
        "3 ", "4 "
    )
    assert change_yaml(text, {("budget", "cost_usd"): None}) == (
        text.replace('"1.00"', "null")
    )
    added = change_yaml(text, {("continue", "rework_window"): 9})
    assert added == text.replace("  repeat", "  rework_window: 9\n  repeat")
    assert change_yaml(added, {("continue", "rework_window"): REMOVED}) == text


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("share", "25", 0.25),
        ("share", "0.7", 0.007),
        ("share", "100", 1),
        ("share", "100.0", 1.0),
        ("share", "a lot", "a lot"),
        ("share", "nan", "nan"),
        ("number", "12", 12),
        ("number", "0.80", 0.8),
        ("number", "none", None),
        ("number", "12 steps", "12 steps"),
        ("money", "10.00", "10.00"),
        ("money", "none", None),
        ("lines", "a\r\n b ", ["a", "b"]),
        ("lines", "none", []),
        ("flag", "off", False),
        ("text", "two\r\nlines", "two\nlines"),
        ("yaml", "{a: 1}", {"a": 1}),
    ],
)
def test_what_is_typed_becomes_a_value(kind: str, text: str, value: Any) -> None:
    found = parse_text(kind, text)
    assert dump(found) == dump(value)
    assert parse_text(kind, "  ") is ABSENT


@pytest.mark.parametrize(
    "document",
    [
        {"gates": None},
        {"gates": {"a": 1}},
        {"tools": {"rules": []}},
        {"loop": {"learn": 1}},
        {"reviews": {"rulings_from_agents": None}},
        {"reviews": {"rulings_from_agents": "perhaps"}},
        {"continue": {"max_rework_ratio": "a lot", "repeat_limit": "none"}},
        {"budget": {"tokens": "12"}},
    ],
)
def test_what_is_no_setting_at_all_is_a_field_too(document: dict[str, Any]) -> None:
    built: dict[str, Any] = {}
    for field in list_fields(document):
        offered = [value for value, _ in field.choices]
        assert field.text in ("", *offered) or not offered, "No browser sends it back."
        value = field.parse(field.text)
        if value is not ABSENT:
            built = set_value(built, field.keys, value)
    assert dump(built) == dump(document)


def test_yaml_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(FieldRefused):
        parse_text("yaml", "{a: ")


def test_every_setting_of_the_schema_has_a_field() -> None:
    document = yaml.safe_load(SHIPPED)
    fields = {field.path: field for field in list_fields(document, ["delete-folder"])}
    assert fields["continue.max_rework_ratio"].text == "30"
    assert fields["continue.max_rework_ratio"].unit == "%"
    assert fields["budget.cost_usd"].unit == "$"
    assert fields["tools.rules.delete-folder"].text == ""
    assert fields["gates.security.severity"].text == "critical"
    assert fields["gates.security.criteria"].kind == "lines"
    assert fields["caps.notes.agent"].label == "Notes, An agent"
    assert len({field.id for field in fields.values()}) == len(fields)
    for field in fields.values():
        assert dump(
            None if field.parse(field.text) is ABSENT else field.parse(field.text)
        ) == dump(
            None
            if read_value(document, field.keys) is ABSENT
            else read_value(document, field.keys)
        )
