"""The work of a schema is known before it is done, and never guessed too low."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.arguments.schema import (
    JUDGING_LIMIT,
    LISTING_LIMIT,
    PROBLEM_LIMIT,
    Schema,
    SchemaRefused,
)
from guidance.core.arguments.schema_cost import (
    LOOK_LIMIT,
    SchemaCost,
    _build_weights,
    measure_levels,
)
from guidance.core.arguments.schema_nodes import (
    SchemaUnbounded,
    find_circular,
    read_nodes,
)
from guidance.core.arguments.schema_references import References
from tests.support.examples import examples

Document = dict[str, Any]


def measure(document: Any) -> SchemaCost:
    return SchemaCost(References(document))


# One definition hands the value to the next one twice.
TWICE: dict[str, Any] = {
    "allOf": lambda ref: {"allOf": [ref, dict(ref)]},
    "anyOf": lambda ref: {"anyOf": [ref, dict(ref)]},
    "oneOf": lambda ref: {"oneOf": [ref, dict(ref)]},
    "not": lambda ref: {"not": ref, **ref},
    "if": lambda ref: {"if": ref, "then": dict(ref)},
    "else": lambda ref: {"if": ref, "else": dict(ref)},
    "dependentSchemas": lambda ref: {"dependentSchemas": {"a": ref, "b": dict(ref)}},
    "dependencies": lambda ref: {
        "dependencies": {"a": ref, "b": dict(ref), "c": ["a"]}
    },
    "unevaluatedProperties": lambda ref: {
        "allOf": [ref],
        "unevaluatedProperties": False,
    },
    "unevaluatedItems": lambda ref: {"allOf": [ref], "unevaluatedItems": False},
}


def fan_out(twice: Any, *, deep: int, to: str = "#/$defs/{}") -> Document:
    defs = {
        f"a{n}": twice({"$ref": to.format(f"a{n + 1}")}) | {"$anchor": f"a{n}"}
        for n in range(deep)
    }
    last = {f"a{deep}": {"type": "string", "$anchor": f"a{deep}"}}
    return {"$defs": defs | last, "$ref": to.format("a0")}


@pytest.mark.parametrize("keyword", TWICE)
def test_a_schema_that_fans_out_is_not_judged_by(keyword: str) -> None:
    excess = Schema(fan_out(TWICE[keyword], deep=30)).excess
    assert excess is not None
    assert excess.keys[0] == "$defs"
    assert f"{LOOK_LIMIT:,}" in str(excess)
    assert Schema(fan_out(TWICE[keyword], deep=4)).excess is None


@pytest.mark.parametrize("to", ["#/$defs/{}", "#{}", "https://a.invalid/b#/$defs/{}"])
def test_references_of_every_kind_are_followed(to: str) -> None:
    document = {"$id": "https://a.invalid/b"} | fan_out(TWICE["anyOf"], deep=30, to=to)
    excess = Schema(document).excess
    assert excess is not None
    assert str(LOOK_LIMIT)[:1] in str(excess)
    assert "does not lead" not in str(excess)


def test_a_reference_may_lead_to_any_place_of_the_document() -> None:
    part = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
    document = {
        "components": [{"a/b ~c": part}],
        "$ref": "#/components/0/a~1b%20~0c",
    }
    assert Schema(document).excess is None
    # The document, its reference, what that leads to, and its two parts.
    assert measure(document).bound_judging([(1, 0)]) == 5


def test_an_anchor_of_two_places_counts_both() -> None:
    twice = {
        "$defs": {
            "a": {"$dynamicAnchor": "x", "type": "string"},
            "b": {"$dynamicAnchor": "x", "anyOf": [{}, {"type": "integer"}]},
        },
        "$dynamicRef": "#x",
    }
    assert measure(twice).bound_judging([(1, 0)]) >= 5


@pytest.mark.parametrize(
    "out",
    ["#/$defs/b", "#nowhere", "#/type/1/2", "https://b.invalid/", "b.json", "http://["],
)
def test_a_reference_that_leads_out_is_named_with_its_place(out: str) -> None:
    inner = {"properties": {"p": {"$ref": out}}}
    with pytest.raises(SchemaRefused) as caught:
        Schema({"type": "object", "properties": {"q": inner}})
    assert f"at /properties/q/properties/p {out} does not lead" in str(caught.value)
    with pytest.raises(SchemaRefused, match=r"at its top .* does not lead"):
        Schema({"$ref": out})


@pytest.mark.parametrize("index", ["1", "-1", "x", "9" * 5_000])
def test_a_reference_may_name_a_place_in_a_list_that_there_is(index: str) -> None:
    with pytest.raises(SchemaRefused, match="does not lead"):
        Schema({"allOf": [{}], "$ref": f"#/allOf/{index}"})


def test_a_circle_for_one_value_has_no_bound() -> None:
    with pytest.raises(SchemaUnbounded, match="itself") as caught:
        measure({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}, {}]}}})
    # The shortest of the places on the way.
    assert caught.value.keys == ("properties", "a")


def test_a_circle_through_children_has_one() -> None:
    """A tree, as arguments often are: no deeper than the arguments."""
    tree = {
        "type": "object",
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}},
        "additionalProperties": False,
    }
    schema = Schema(tree)
    assert schema.excess is None
    arguments: Document = {}
    for _ in range(20):
        arguments = {"left": arguments, "right": {}}
    assert schema.list_problems(arguments) == ()
    (problem,) = schema.list_problems({"left": {"middle": {}}})
    assert problem.path == "/left"


def test_what_a_circle_leads_to_looks_at_values_of_every_level() -> None:
    part = {"anyOf": [{"minLength": n} for n in range(9)]}
    chain = part | {"additionalProperties": {"$ref": "#/$defs/chain"}}
    document = {"$defs": {"chain": chain}, "$ref": "#/$defs/chain"}
    value: Document = {}
    for _ in range(12):
        value = {"a": value}
    # On each of its 13 levels: the chain, its nine parts, and where it is referred from.
    looks = 13 * 11
    cost = measure(document)
    levels = measure_levels(value)
    assert looks <= cost.bound_judging(levels) < 3 * looks
    assert looks <= cost.bound_listing(levels) < 3 * looks


def test_circles_close_where_they_are_entered_again() -> None:
    """Whatever leads to them, and however far from the top."""
    loop = {"items": {"additionalProperties": {"$ref": "#/$defs/loop"}}}
    ways = [{"$ref": "#/$defs/loop"}, {"items": {"$ref": "#/$defs/loop"}}]
    document = {"$defs": {"loop": loop}, "allOf": ways}
    nodes = read_nodes(References(document))
    assert [node.keys for node in find_circular(nodes[0])] == [("$defs", "loop")]


def test_as_many_looks_as_the_limit_are_taken() -> None:
    at_limit = {"anyOf": [{"minLength": n} for n in range(LOOK_LIMIT - 1)]}
    assert Schema(at_limit).excess is None
    at_limit["anyOf"].append({"minLength": LOOK_LIMIT})
    excessive = Schema(at_limit)
    assert excessive.excess is not None
    (problem,) = excessive.list_problems({})
    assert "at its top its parts look" in problem.message


def test_what_no_call_can_reach_counts_for_nothing() -> None:
    document = fan_out(TWICE["anyOf"], deep=30)
    assert Schema({"$defs": document["$defs"], "type": "object"}).excess is None


def test_true_and_false_are_schemas_that_cost_nothing_much() -> None:
    assert Schema(True).list_problems({"a": 1}) == ()
    assert len(Schema(False).list_problems({"a": 1})) == 1
    assert Schema({"properties": {"a": False, "b": True}}).excess is None


def test_a_long_list_to_compare_with_counts() -> None:
    def bound(**own: Any) -> int:
        return measure(own).bound_judging([(1, 0)])

    assert bound(enum=list(range(1_600))) == 101
    assert bound(required=[str(n) for n in range(160)]) == 11
    assert bound(enum=["a"]) == 1
    assert bound(dependentRequired={str(n): [] for n in range(16)}) == 2


# What takes too long is not begun.


def test_arguments_over_the_limit_ask_a_person() -> None:
    parts = {"allOf": [{"additionalProperties": {"type": "integer"}}] * 100}
    schema = Schema({"additionalProperties": parts})
    few = {str(n): {str(m): 1 for m in range(40)} for n in range(100)}
    assert schema.list_problems(few) == ()
    many = {str(n): {str(m): 1 for m in range(80)} for n in range(100)}
    assert (
        measure({"additionalProperties": parts}).bound_judging(measure_levels(many))
        > JUDGING_LIMIT
    )
    (problem,) = schema.list_problems(many)
    assert problem.unchecked
    assert "too large" in problem.message


def test_a_list_that_would_take_long_is_one_problem() -> None:
    schema = Schema({"additionalProperties": {"type": "integer"}})
    short = schema.list_problems({str(n): "x" for n in range(LISTING_LIMIT // 4)})
    assert len(short) == PROBLEM_LIMIT
    (problem,) = schema.list_problems({str(n): "x" for n in range(LISTING_LIMIT)})
    assert "too large to say where" in problem.message
    assert not problem.unchecked
    assert schema.list_problems({str(n): 1 for n in range(LISTING_LIMIT)}) == ()


def test_long_texts_weigh_more() -> None:
    cost = measure({"additionalProperties": {"type": "string"}})

    def bound(text: str) -> tuple[int, int]:
        levels = measure_levels({"a": text})
        return cost.bound_judging(levels), cost.bound_listing(levels)

    assert bound("x" * 100_000)[0] - bound("")[0] == 10_000
    assert bound("x" * 100_000)[1] - bound("")[1] == 40


def test_what_is_below_weighs_on_every_level_above() -> None:
    cost = measure({})
    for below, judging, listing in ((49, 1, 2), (50, 2, 2), (79, 2, 2), (80, 2, 3)):
        levels = [(1, 0), (below - 1, 0)]
        assert cost.bound_judging(levels) == judging
        assert cost.bound_listing(levels) == listing
    # The children of children count above, and those above do not count below.
    assert _build_weights([(1, 0), (9, 0), (90, 0)], characters=9, values=10) == [
        *(1 + 10, 9 + 9, 90 + 9)
    ]


def test_levels_are_counted_one_by_one() -> None:
    arguments = {"ab": [1, "xyz", {"c": None}], "d": {"e": "f"}}
    assert measure_levels(arguments) == [(1, 3), (2, 1), (4, 5), (1, 0)]


# No bound is below the looks that are really taken.

NAMES = ("a", "b", "c")
PATTERNS = ("^a", "b|c", ".")


def draw_schemas(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        several = st.lists(inner, min_size=1, max_size=3)
        named = st.dictionaries(st.sampled_from(NAMES), inner, min_size=1)
        by_pattern = st.dictionaries(st.sampled_from(PATTERNS), inner, min_size=1)
        return st.fixed_dictionaries(
            {},
            optional={
                "allOf": several,
                "anyOf": several,
                "not": inner,
                "properties": named,
                "patternProperties": by_pattern,
                "additionalProperties": inner,
                "prefixItems": several,
                "items": inner,
                "contains": inner,
                "dependentSchemas": named,
            },
        )

    return st.recursive(leaves, extend, max_leaves=12)


leaves = st.sampled_from(
    [{}, {"type": "string"}, {"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}, True]
)
values = st.recursive(
    st.sampled_from([1, "text", None]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*NAMES, "z"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def count_looks(schema: Any, value: Any, defs: Document) -> int:
    """Look at everything, as the slowest of all validators would."""
    if not isinstance(schema, dict):
        return 1
    same = [*schema.get("allOf", ()), *schema.get("anyOf", ())]
    same += [schema["not"]] if "not" in schema else []
    same += schema.get("dependentSchemas", {}).values()
    same += [defs[schema["$ref"][-1]]] if "$ref" in schema else []
    looks = 1 + sum(count_looks(part, value, defs) for part in same)
    if isinstance(value, dict):
        for name, child in value.items():
            for part in list_parts_of_property(schema, name):
                looks += count_looks(part, child, defs)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            first = schema.get("prefixItems", ())
            parts = [first[index]] if index < len(first) else [schema.get("items")]
            parts.append(schema.get("contains"))
            looks += sum(count_looks(p, child, defs) for p in parts if p is not None)
    return looks


def list_parts_of_property(schema: Document, name: str) -> list[Any]:
    parts = [schema["properties"][name]] if name in schema.get("properties", ()) else []
    for pattern, part in schema.get("patternProperties", {}).items():
        parts += [part] if re.search(pattern, name) else []
    if not parts and "additionalProperties" in schema:
        parts.append(schema["additionalProperties"])
    return parts


@examples(400)
@given(x=draw_schemas(st.sampled_from([{}, {"type": "string"}])), data=st.data())
def test_no_bound_is_below_the_looks_that_are_taken(
    x: Any, data: st.DataObject
) -> None:
    y = data.draw(draw_schemas(st.sampled_from([{}, {"$ref": "#/$defs/x"}])))
    top = data.draw(draw_schemas(leaves))
    value = {"a": data.draw(values), "b": data.draw(values)}
    defs = {"x": x, "y": y}
    document = {"$defs": defs, "allOf": [top]}
    looks = count_looks(document, value, defs)
    cost = measure(document)
    levels = measure_levels(value)
    assert looks <= cost.bound_listing(levels)
    assert looks <= cost.bound_judging(levels)
