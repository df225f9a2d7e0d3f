"""Raw arguments: one object with one meaning, or where it stops being one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.arguments import ArgumentProblem, Arguments, read_arguments
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(200)


def read(text: str, *, lenient: bool = False) -> dict[str, Any]:
    result = read_arguments(text, lenient=lenient)
    assert isinstance(result, Arguments), result
    return result.values


def problem(text: str, *, lenient: bool = False) -> ArgumentProblem:
    result = read_arguments(text, lenient=lenient)
    assert isinstance(result, ArgumentProblem), result
    return result


def place(text: str) -> tuple[int, int]:
    found = problem(text)
    return found.line, found.column


def test_an_object_is_read_as_it_stands() -> None:
    text = '{"path": "a.py", "n": [1, 2.5, true, null], "o": {"ü": "\\u00fc\\n"}}'
    assert read(text) == json.loads(text)
    result = read_arguments(text)
    assert isinstance(result, Arguments)
    assert not result.args_repaired


def test_null_stands_for_no_arguments() -> None:
    """GW-38: empty or null arguments are no mistake."""
    assert read("null") == read("{}") == {}


@each_row("text", ["", "  \n", "[1]", '"text"', "3", "true"])
def test_anything_but_an_object_is_refused(text: str) -> None:
    assert not problem(text).truncated


@each_row(
    ("text", "told"),
    [
        ('{"a": 1,}', "expecting property name enclosed in double quotes"),
        ('{"a": 1 , \n }', "expecting property name enclosed in double quotes"),
        ('{"a": [1,]}', "expecting value"),
        ('{"a": [1, \t ]}', "expecting value"),
    ],
)
def test_a_last_comma_is_told_alike_by_every_python(text: str, told: str) -> None:
    """Newer ones name the comma; what is told stands at the sign behind it, as ever."""
    found = problem(text)
    assert found.message == f"not JSON: {told}"
    closing = text.index("]" if "[" in text else "}")
    line = text.count("\n", 0, closing) + 1
    assert (found.line, found.column) == (line, closing - text.rfind("\n", 0, closing))


@each_row(
    ("text", "where"),
    [
        ('{"a": x}', (1, 7)),
        ('{\n  "a": 1,\n  "b": oops\n}', (3, 8)),
        ('{"a": 1,}', (1, 9)),
        ("{'a': 1}", (1, 2)),
        ('{"a": 1} x', (1, 10)),
        ('{"a": "x\ny"}', (1, 9)),
    ],
    ids=["word", "third-line", "comma", "quotes", "rest", "control"],
)
def test_what_is_not_json_is_told_with_its_place(
    text: str, where: tuple[int, int]
) -> None:
    assert place(text) == where
    assert problem(text).message.startswith("not JSON: ")


@each_row(
    ("text", "where"),
    [
        ('{"a": 1, "a": 1}', (1, 10)),
        ('{"a": {"b": 1},\n "c": [{"d": 1, "d": 2}]}', (2, 17)),
        ('{"a": 1, "\\u0061": 2}', (1, 10)),
        ('{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 2}], "a": 3}', (1, 51)),
    ],
    ids=["plain", "deep", "escaped", "only-the-same-object"],
)
def test_a_key_that_stands_twice(text: str, where: tuple[int, int]) -> None:
    assert place(text) == where
    assert "twice" in problem(text).message
    assert "twice" in problem(text, lenient=True).message


@each_row(
    ("text", "column"),
    [
        ('{"a": NaN}', 7),
        ('{"a": [1, -Infinity]}', 11),
        ('{"a": 1e999}', 7),
        ('{"a": 9007199254740992}', 7),
        ('{"a": -0}', 7),
        ('{"a": "\\ud800"}', 7),
        ('{"a": "\\u0000"}', 7),
        ('{"\\udfff": 1}', 2),
        ('{"a": ' + "9" * 5_000 + "}", 7),
        ("[" * 33 + "]" * 33, 33),
        ("[" * 100_000, 33),
    ],
    ids=[
        "nan",
        "infinity",
        "exponent",
        "integer",
        "minus-zero",
        "half-pair",
        "nul",
        "half-pair-in-key",
        "digits",
        "deep",
        "endless",
    ],
)
def test_what_not_everybody_reads_alike(text: str, column: int) -> None:
    assert place(text) == (1, column)
    problem(text, lenient=True)


def test_floods_are_refused_before_they_are_read() -> None:
    assert "10,000" in problem('{"a": [' + "1," * 10_000 + "1]}").message
    assert "10,000" in problem('{"a": [' + "[]," * 9_999 + "[]]}").message
    assert read('{"a": "' + "," * 20_000 + '"}') == {"a": "," * 20_000}


@each_row(
    "text",
    [
        '{"foo":"ba',
        '{"foo":',
        '{"foo"',
        "{",
        '{"a":2',
        '{"a":2,',
        "[1,2,3,",
        '{"a": tru',
        '{"a": "\\',
        '{"a": "\\u12',
        '{"command": "rm -rf /tmp/x',
        '{"a": [{"b": "}]',
        "{'a': 'x",
        '{"a": 1 /* and',
        '{"a": 1} {"b":',
    ],
)
def test_a_text_that_breaks_off_is_known_and_never_completed(text: str) -> None:
    """JR-01, JR-12: the reference closed these, and a cut command looked whole."""
    for lenient in (False, True):
        found = problem(text, lenient=lenient)
        assert found.truncated
        assert found.column == len(text) + 1
        assert "breaks off" in found.message


@each_row("text", ['{"a": [1}', '{"a": 1}}', "}", "nonsense"])
def test_what_is_wrong_is_not_what_breaks_off(text: str) -> None:
    assert not problem(text).truncated


def test_what_is_refused_may_break_off_as_well() -> None:
    """-0 was about to become -0.5."""
    assert problem('{"a": -0').truncated
    assert problem('{"a": 1, "a": 2, "b": "x').truncated


def test_nothing_of_the_text_is_repeated() -> None:
    for text in ('{"a": hun' + "ter2}", '{"hun' + 'ter2": 1, "hun' + 'ter2": 2}'):
        assert "hun" + "ter2" not in problem(text).message


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
            below,
            max_size=3,
        )
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text("abc", max_size=3), values, max_size=4)


@steadily
@given(document=objects, indent=st.none() | st.integers(0, 2), ascii=st.booleans())
def test_every_object_is_read_back(
    document: dict[str, Any], indent: int | None, ascii: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii)
    for lenient in (False, True):
        result = read_arguments(text, lenient=lenient)
        assert result == Arguments(values=document)


@steadily
@given(document=objects, data=st.data())
def test_no_beginning_of_an_object_is_taken_for_a_whole_one(
    document: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(document, ensure_ascii=data.draw(st.booleans()))
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    for lenient in (False, True):
        found = read_arguments(cut, lenient=lenient)
        assert isinstance(found, ArgumentProblem)
        assert found.truncated


@steadily
@given(text=st.text("{}[]\"':,\\/*#ab01.-\n `truefalsn", max_size=60))
def test_no_text_raises_and_what_is_not_lenient_is_json(text: str) -> None:
    strict = read_arguments(text)
    if isinstance(strict, Arguments):
        assert strict.values == (json.loads(text) or {})
    loose = read_arguments(text, lenient=True)
    if isinstance(strict, Arguments):
        assert loose == strict
    elif strict.truncated:
        assert isinstance(loose, ArgumentProblem)
    elif isinstance(loose, Arguments):
        assert loose.args_repaired
