"""RFC 8785: its own examples, and the same bytes as a simpler program writes."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from checkrail.transport import jcs as client_jcs
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import read_as_stored, to_jcs, write_number
from tests.support.examples import examples

SAFE = 2**53 - 1
numbers = st.integers(-SAFE, SAFE) | st.floats(allow_nan=False, allow_infinity=False)
# Texts that look like numbers, and keys on both sides of the surrogates.
texts = st.text() | st.sampled_from(
    [":1.0,", '"', "\\", '\\"1.0]', "[-0.0", "1e-07", "e-mail", "\U0001f600", "\ufb33"]
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda part: st.lists(part) | st.dictionaries(texts, part),
)

# RFC 8785, appendix B: the bits of a double, and how it is written.
APPENDIX_B = {
    "0000000000000000": "0",
    "8000000000000000": "0",
    "0000000000000001": "5e-324",
    "8000000000000001": "-5e-324",
    "7fefffffffffffff": "1.7976931348623157e+308",
    "ffefffffffffffff": "-1.7976931348623157e+308",
    "4340000000000000": "9007199254740992",
    "c340000000000000": "-9007199254740992",
    "4430000000000000": "295147905179352830000",
    "44b52d02c7e14af5": "9.999999999999997e+22",
    "44b52d02c7e14af6": "1e+23",
    "44b52d02c7e14af7": "1.0000000000000001e+23",
    "444b1ae4d6e2ef4e": "999999999999999700000",
    "444b1ae4d6e2ef4f": "999999999999999900000",
    "444b1ae4d6e2ef50": "1e+21",
    "3eb0c6f7a0b5ed8c": "9.999999999999997e-7",
    "3eb0c6f7a0b5ed8d": "0.000001",
    "41b3de4355555553": "333333333.3333332",
    "41b3de4355555554": "333333333.33333325",
    "41b3de4355555555": "333333333.3333333",
    "41b3de4355555556": "333333333.3333334",
    "41b3de4355555557": "333333333.33333343",
    "becbf647612f3696": "-0.0000033333333333333333",
    "43143ff3c1cb0959": "1424953923781206.2",
}


@pytest.mark.parametrize(("bits", "written"), APPENDIX_B.items())
@pytest.mark.parametrize("write", [to_jcs, client_jcs.to_jcs], ids=["server", "client"])
def test_numbers_of_appendix_b(write: Any, bits: str, written: str) -> None:
    (number,) = struct.unpack(">d", bytes.fromhex(bits))
    assert write(number) == written
    assert write({"a": [number, "x"]}) == f'{{"a":[{written},"x"]}}'


@pytest.mark.parametrize("write", [to_jcs, client_jcs.to_jcs], ids=["server", "client"])
@pytest.mark.parametrize(
    ("document", "written"),
    [
        # Section 3.2.2, with the order of section 3.2.3.
        (
            '{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3,'
            ' 0.000000000000000000000000001], "string": '
            '"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",'
            ' "literals": [null, true, false]}',
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,'
            '0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
        ),
        # Section 3.2.3: keys by UTF-16 code units, an emoji before U+FB33.
        (
            '{"\\u20ac": "Euro Sign", "\\r": "Carriage Return", "\\ufb33": "Hebrew'
            ' Letter Dalet With Dagesh", "1": "One", "\\ud83d\\ude00": "Emoji: Grinning'
            ' Face", "\\u0080": "Control", "\\u00f6": "Latin Small Letter O With'
            ' Diaeresis"}',
            '{"\\r":"Carriage Return","1":"One","\x80":"Control","ö":"Latin Small'
            ' Letter O With Diaeresis","€":"Euro Sign","\U0001f600":"Emoji: Grinning'
            ' Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
        ),
        # The published test files: arrays, french, structures, unicode, values, weird.
        (
            '[56, {"d": true, "10": null, "1": []}]',
            '[56,{"1":[],"10":null,"d":true}]',
        ),
        (
            '{"peach": "a", "péché": "b", "pêche": "c", "sin": "d"}',
            '{"peach":"a","péché":"b","pêche":"c","sin":"d"}',
        ),
        (
            '{"1": {"f": {"f": "hi", "F": 5}, "\\n": 56.0}, "10": {}, "": "empty",'
            ' "a": {}, "111": [{"e": "yes", "E": "no"}], "A": {}}',
            '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},'
            '"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
        ),
        (
            '{"Unnormalized Unicode": "A\\u030a"}',
            '{"Unnormalized Unicode":"A\u030a"}',
        ),
    ],
)
def test_published_documents(write: Any, document: str, written: str) -> None:
    assert write(json.loads(document)) == written
    assert write(json.loads(written)) == written


def test_numbers_are_written_as_ecmascript_writes_them() -> None:
    assert to_jcs([1e16, 1e-7, -0.0, 100.0, 1e21, -10.0, 0.00001, 5e-7]) == (
        "[10000000000000000,1e-7,0,100,1e+21,-10,0.00001,5e-7]"
    )


def test_what_looks_like_a_number_in_a_text_stays_as_it_is() -> None:
    told = {"a": ',1.0,"1.0]\\', ":1.0,": [1.0, '"', -0.0], "b": "x:1e-07,"}
    assert to_jcs(told) == (
        '{":1.0,":[1,"\\"",0],"a":",1.0,\\"1.0]\\\\","b":"x:1e-07,"}'
    )


@pytest.mark.parametrize("write", [to_jcs, client_jcs.to_jcs], ids=["server", "client"])
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", {"\udfff": 1}, ["\U0001f600\udc00"]]
)
def test_what_has_no_canonical_form_is_refused(write: Any, value: object) -> None:
    with pytest.raises(ValueError, match=r"not JSON|surrogate"):
        write({"value": value})


def test_whole_numbers_beyond_2_53_have_all_their_digits() -> None:
    assert to_jcs([2**53 + 1, 10**25]) == f"[{2**53 + 1},{10**25}]"


@examples(500)
@given(values)
def test_it_is_what_a_simple_program_writes(value: object) -> None:
    assert to_jcs(value) == client_jcs.to_jcs(value)


@examples(500)
@given(values)
def test_what_is_read_again_is_written_again(value: object) -> None:
    written = to_jcs(value)
    assert to_jcs(json.loads(written)) == written
    stored = read_as_stored(value)
    assert to_canonical_json(stored) == to_canonical_json(json.loads(written))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.just(0.25) | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(max_size=9), part),
)


@examples(500)
@given(plain)
def test_without_such_numbers_and_keys_it_is_the_canonical_json_of_before(
    value: object,
) -> None:
    if all(ord(char) < 0xD800 for char in to_canonical_json(value)):
        assert to_jcs(value) == to_canonical_json(value)


@examples(500)
@given(
    st.none()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0.0, -0.0, 1.0, 1e21, 1e-7, 123456789012345680000.0, 5e-324])
)
def test_a_number_by_itself_is_written_as_within_a_document(
    value: float | None,
) -> None:
    assert write_number(value) == to_jcs(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_number(value)
