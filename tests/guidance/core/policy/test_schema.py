"""The published schema of policies, and the code that reads them, agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, meta

import guidance
from guidance.core.policy import PolicyError, load_policy
from guidance.core.policy.policy import WORDS
from guidance.core.policy.schema import POLICY_SCHEMA
from tests.support.examples import examples

SCHEMA: dict[str, Any] = dict(POLICY_SCHEMA)
VALIDATOR = Draft202012Validator(SCHEMA)
Schema = dict[str, Any]


def list_settings(schema: Schema, path: str = "") -> Iterator[tuple[str, Schema]]:
    """Every setting with its path, parts of parts included."""
    for name, part in schema.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        yield here, part
        yield from list_settings(part, here)
        for inner in list_inner(part):
            yield from list_settings(inner, f"{here}.*")


def list_inner(part: Schema) -> list[Schema]:
    """What the items of a list or the values of an object may be."""
    several = [part.get("items"), part.get("additionalProperties")]
    several += [item.get("items") for item in part.get("anyOf", [])]
    found = [each for each in several if isinstance(each, dict)]
    return [inner for each in found for inner in (each, *each.get("anyOf", []))]


def test_it_is_a_schema_and_every_setting_has_its_words() -> None:
    meta.validate(SCHEMA)
    settings = dict(list_settings(SCHEMA))
    assert set(settings) == set(WORDS)
    for path, part in settings.items():
        assert part["title"], path
        assert part["description"].endswith("."), path


def test_every_setting_that_can_be_left_out_says_its_default() -> None:
    for path, part in list_settings(SCHEMA):
        if "*" in path or {"properties", "items"} & part.keys():
            continue
        said = part.keys() & {"default", "x-default-from"}
        assert said or part["type"] == "object", path


def test_the_shipped_policy_is_valid_and_says_the_defaults() -> None:
    text = (Path(guidance.__file__).parent / "policies/default.yaml").read_text()
    document = yaml.safe_load(text)
    assert list(VALIDATOR.iter_errors(document)) == []
    for path, part in list_settings(SCHEMA):
        value = document
        for name in path.split("."):
            value = value.get(name, ...) if isinstance(value, dict) else ...
        if value is not ... and "default" in part:
            assert part["default"] == value, path


def find_differences(document: Any) -> tuple[list[str], list[str]]:
    """What the schema and what the reader has to say against a document."""
    schema = [error.message for error in VALIDATOR.iter_errors(document)]
    try:
        load_policy(document)
    except PolicyError as error:
        return schema, [why for _, why in error.errors]
    return schema, []


NUMBERS = [
    (path, part)
    for path, part in list_settings(SCHEMA)
    if "maximum" in part and "*" not in path
]


@pytest.mark.parametrize("end", ["minimum", "maximum"])
def test_both_have_the_same_bounds(end: str) -> None:
    assert len(NUMBERS) > 30
    for path, part in NUMBERS:
        over = part[end] + (1 if end == "maximum" else -1)
        for value, sound in ((part[end], True), (over, False)):
            document: Any = value
            for name in reversed(path.split(".")):
                document = {name: document}
            schema, reader = find_differences(document)
            # How two settings compare is said in words alone.
            reader = [why for why in reader if "is more than" not in why]
            assert (not schema, not reader) == (sound, sound), path


# What no schema can say: names that have to exist, patterns, one value beside another.
BEYOND_SCHEMA = (
    *("is more than", "no rule has this name", "no built-in rule has this name"),
    *("start_loop names the loop", "no kind has this name"),
    *("another kind has", "the snapshot has", "only the verifier command"),
    *("nothing is called", "must not be blank", "must be one line", "holds no word"),
)
TEXTS = [
    *("1.00", "some text", "Bash.command", "build", "a-1", "Not A Name", "..", "a/b"),
    *("x" * 65, "x" * 5_000),
]
JUNK = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "10.00", [], ["a"], {}, {"a": 1}]
)


def build_values(part: Schema) -> st.SearchStrategy[Any]:
    """What the schema asks for."""
    if "anyOf" in part:
        return st.one_of([build_values(each) for each in part["anyOf"]])
    if "enum" in part:
        return st.sampled_from(part["enum"])
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    if "integer" in kinds:
        return st.integers(part["minimum"], part["maximum"])
    if "number" in kinds:
        return st.floats(part["minimum"], part["maximum"])
    if "string" in kinds:
        return st.sampled_from(TEXTS)
    if "boolean" in kinds:
        return st.booleans()
    if "array" in kinds:
        return st.lists(build_values(part["items"]), max_size=2)
    return build_objects(part)


def build_objects(part: Schema) -> st.SearchStrategy[Any]:
    inner = part.get("additionalProperties")
    if isinstance(inner, dict):
        return st.dictionaries(
            st.sampled_from(["a", "b-c", "Not An Id"]), build_values(inner), max_size=2
        )
    required = part.get("required", [])
    fields = {
        name: build_values(each) for name, each in part.get("properties", {}).items()
    }
    return st.fixed_dictionaries(
        {name: fields[name] for name in required},
        optional={name: each for name, each in fields.items() if name not in required},
    )


def list_places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Whatever stands in a document, as the object or list and its key there."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in pairs:
        yield value, key
        if isinstance(item, dict | list):
            yield from list_places(item)


@examples(600)
@given(st.data())
def test_what_one_takes_the_other_takes(data: st.DataObject) -> None:
    document = data.draw(build_values(SCHEMA))
    places = [*list_places(document)]
    one_is_wrong: bool = data.draw(st.booleans())
    if places and one_is_wrong:
        around, key = data.draw(st.sampled_from(places))
        around[key] = data.draw(JUNK)
    schema, reader = find_differences(document)
    if schema:
        assert reader, (schema, document)
    else:
        beyond = [any(word in why for word in BEYOND_SCHEMA) for why in reader]
        assert all(beyond), (reader, document)
