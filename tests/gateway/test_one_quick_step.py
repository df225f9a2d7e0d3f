"""Steps that are read in one go are what the strict way makes of them, or are not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from common.errors import DomainError
from config.fastpath.strict_json import parse
from gateway.schemas.quick_steps import read_step
from gateway.schemas.runs import StepIn, UncleanStepIn
from gateway.use_cases.steps import build_report
from tests.guidance.core.secrets.test_quick_check import texts
from tests.support.examples import examples

pytestmark = pytest.mark.once("judges texts, not what is stored")
LEAST: dict[str, Any] = {"number": 1, "tokens": 2, "tool_calls": 3}
numbers = st.one_of(
    st.integers(-2, 2**54).map(str),
    st.floats(0, 1).map(repr),
    st.decimals(0, 1, places=20).map(str),
    st.sampled_from(
        [
            "-0",
            "-0.0",
            "-0e5",
            "-1e-400",
            "-4.9e-325",
            "0",
            "0.0",
            "1.0",
            "1e0",
            "1E-400",
            "1e999",
            "00",
            "1.",
        ]
    ),
    st.sampled_from(["NaN", "-Infinity", "Infinity", "0.1e1", "true", "null", "-", ""]),
)
words = st.one_of(
    st.sampled_from(
        ["0.5", "0", "bug-fix", "a:b", ':"', '":', "2026-01-02", "é", "\\"]
    ),
    st.sampled_from(["\ud800", "\0", "\x7f", "\u2028", "\U0001f600"]),
    st.text(),
)
any_value = st.one_of(
    numbers,
    words.map(json.dumps),
    words.map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.lists(numbers, max_size=3).map(lambda each: f"[{','.join(each)}]"),
    st.sampled_from(["{}", '{"a":1}', "[[]]", "'x'"]),
)
names = st.sampled_from([*StepIn.model_fields, "other", "num\\u0062er"])
spaces = st.sampled_from(["", "", "", " ", "\t", "\n ", "\r\n", "\v", "\u00a0"])


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    """Mostly steps, with something odd here and there."""
    pairs = [(name, str(value)) for name, value in LEAST.items()]
    pairs += draw(st.lists(st.tuples(names, any_value), max_size=4))
    parts = [
        f'{draw(spaces)}"{name}"{draw(spaces)}:{draw(spaces)}{value}{draw(spaces)}'
        for name, value in draw(st.permutations(pairs))
    ]
    text = draw(spaces) + "{" + ",".join(parts) + "}" + draw(spaces)
    return text.encode("utf-8", "surrogatepass")


def read_strictly(raw: bytes) -> StepIn | None:
    try:
        return StepIn.model_validate(parse(raw))
    except (DomainError, ValidationError):
        return None


def assert_same(raw: bytes) -> None:
    plain, strict = read_step(raw), read_strictly(raw)
    if plain is None:
        return
    assert strict is not None
    # As text: -0.0 equals 0.0.
    assert repr(plain.model_dump()) == repr(strict.model_dump())
    assert repr(build_report(plain)) == repr(build_report(strict))


@examples(8_000)
@given(documents())
@example(b'{"number":1,"tokens":2,"tool_calls":3,"tokens":2}')
@example(b'{"number":1,"tokens":2,"tool_calls":3,"coherence":-0.0}')
@example(b'{"number":1,"tokens":-0,"tool_calls":3}')
@example(b'{"number":1,"tokens":2,"tool_calls":3,"coherence":-1e-400}')
@example(b'{"number":1,"tokens":2,"tool_calls":3,"confidences":[-4.9e-325]}')
@example(b'\xef\xbb\xbf{"number":1,"tokens":2,"tool_calls":3}')
@example(b'{"number":1,"tokens":2,"tool_calls":3,"summary":"\xed\xa0\x80"}')
@example(b'{"number":1,"tokens":2,"tool_calls":3,"summary":"\x00"}')
@example(b'{"number":1,"tokens":2,"tool_calls":3,"summary":"a","summary":"b"}')
def test_whatever_is_read_in_one_go_is_read_strictly_as_well(raw: bytes) -> None:
    assert_same(raw)


@examples(4_000)
@given(st.decimals(0, 1, places=22) | st.floats(0, 1))
def test_numbers_are_the_same_to_the_last_bit(number: Any) -> None:
    step = b'{"number":1,"tokens":2,"tool_calls":3,"coherence":%a}'
    raw = step.replace(b"%a", str(number).encode())
    assert_same(raw)


@examples(4_000)
@given(texts, texts)
def test_no_secret_is_kept(summary: str, signature: str) -> None:
    raw = json.dumps(
        {**LEAST, "summary": summary, "signature": signature}, ensure_ascii=False
    )
    assert_same(raw.encode("utf-8", "surrogatepass"))


def test_an_ordinary_step_is_read_in_one_go() -> None:
    given: dict[str, Any] = {
        **LEAST,
        "cost_usd": "0.0121",
        "coherence": 0.83,
        "confidences": [0, 0.5],
        "intent": "bug-fix",
        "summary": "Rän the test: it fails",
        "rework": False,
        "signature": "bash:pytest -k login --count 12",
    }
    for indent in (None, 2):
        raw = json.dumps(given, indent=indent, ensure_ascii=False).encode()
        found = read_step(raw)
        assert found is not None
        assert found.model_dump() == StepIn(**given).model_dump()


def test_secrets_are_looked_for_in_both_texts() -> None:
    hidden = "password=" + "hun" + "ter22-Xy"
    for name in ("summary", "signature"):
        raw = json.dumps({**LEAST, name: hidden}).encode()
        assert read_step(raw) is None


def test_both_readings_know_the_same_fields() -> None:
    """Those that are cleaned are the two that are looked at."""
    assert UncleanStepIn(**LEAST).model_dump() == StepIn(**LEAST).model_dump()
    differing = {
        name
        for name, field in StepIn.model_fields.items()
        if repr(field) != repr(UncleanStepIn.model_fields[name])
    }
    assert differing == {"summary", "signature", "confidences"}
