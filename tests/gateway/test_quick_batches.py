"""A batch that is read quickly says what the usual way says of it, or nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.errors import DomainError
from config.fastpath.strict_json import parse
from gateway.schemas.quick_steps import LONGEST, read_batch
from gateway.schemas.runs import StepBatchIn
from gateway.use_cases.steps import build_report
from guidance.core.runs.facts import StepReport
from tests.support.builders import step
from tests.support.rows import each_row

pytestmark = pytest.mark.once("reads bodies, not SQL")

SECRET = "AKIA" + "ABCDEFGHIJKLMNOP"


def read_usually(raw: bytes) -> list[StepReport] | None:
    try:
        return list(map(build_report, StepBatchIn.model_validate(parse(raw)).steps))
    except (ValueError, DomainError):
        return None


def read_quickly(raw: bytes) -> list[StepReport] | None:
    batch = read_batch(raw)
    return None if batch is None else list(map(build_report, batch.steps))


def write(*steps: dict[str, Any], **more: Any) -> bytes:
    document = {"steps": [*steps], **more}
    return json.dumps(document, ensure_ascii=False).encode()


FULL = step(
    1,
    duration_ms=4200,
    cost_usd="0.0121",
    rework=True,
    checkpoint=True,
    coherence=1,
    uncertainty=0.1 + 0.2,
    confidences=[0, 0.5, 1],
    intent="bug-fix",
    summary='At 12:30: "quoted", é, 2026-01-05',
    signature="bash:ls -l: {} [] ,",
    failed_calls=0,
)


USUAL = {
    "one": write(step(1)),
    "with everything": write(FULL, step(2), {**FULL, "number": 3}),
    "without texts": write({**FULL, "summary": "", "signature": None}),
    "spread out": json.dumps({"steps": [FULL]}, indent=4, ensure_ascii=False)
    .replace('": ', '" :\t')
    .encode(),
    "with numbers that are read in several ways": write(FULL).replace(
        b'"coherence": 1,', b'"coherence": 1.0E-1,'
    ),
}


@each_row("raw", USUAL.values(), ids=USUAL)
def test_a_usual_batch_is_read_quickly(raw: bytes) -> None:
    found = read_quickly(raw)

    assert found is not None
    assert found == read_usually(raw)
    assert repr(found) == repr(read_usually(raw))


ONE = write(FULL)


DOUBTFUL = {
    "nothing": b"",
    "no object": b"[]",
    "none": write(),
    "too many": write(*[step(n) for n in range(1, 102)]),
    "too long": write(*[step(n, summary="x" * 4_000) for n in range(1, 20)]),
    "a key twice": ONE.replace(b'"rework"', b'"tokens": 5, "rework"'),
    "a text twice": ONE.replace(b'"rework"', b'"summary": "a:b", "rework"'),
    "the steps twice": ONE[:-1] + b', "steps": [{"number": 1}]}',
    "a key with an escape": ONE.replace(b'"tokens"', b'"t\\u006fkens"'),
    "half of a pair": ONE.replace(b"bash", b"\\ud800"),
    "NUL": ONE.replace(b"bash", b"\\u0000"),
    "NUL as it is": ONE.replace(b"bash", b"\0"),
    "a control character": ONE.replace(b"bash", b"\1"),
    "no UTF-8": ONE.replace(b"bash", b"\xff"),
    "a byte order mark": b"\xef\xbb\xbf" + ONE,
    "-0": ONE.replace(b'"failed_calls": 0', b'"failed_calls": -0'),
    "-0 in a list": ONE.replace(b"[0, 0.5", b"[-0, 0.5"),
    "-0.0": ONE.replace(b'"coherence": 1', b'"coherence": -0.0'),
    "-0 in other words": ONE.replace(b'"coherence": 1', b'"coherence": -1e-400'),
    "NaN": ONE.replace(b'"coherence": 1', b'"coherence": NaN'),
    "infinite": ONE.replace(b'"coherence": 1', b'"coherence": 1e999'),
    "a large number": ONE.replace(b'"tokens": ', b'"tokens": 99999999999999'),
    "a decimal": ONE.replace(b'"duration_ms": 4200', b'"duration_ms": 4200.0'),
    "a text for a number": ONE.replace(b": 4200", b': "4200"'),
    "another field": write({**FULL, "admin": True}),
    "another field beside": write(FULL, more=1),
    "more after it": ONE + b"{}",
    "a comma too many": ONE.replace(b"]}", b",]}"),
    "a secret": write(step(1), step(2, summary=f"Key {SECRET} was refused")),
    "a flood": write(*[step(n, confidences=[0.5] * 100) for n in range(1, 101)]),
}


@each_row("raw", DOUBTFUL.values(), ids=DOUBTFUL)
def test_whatever_is_doubtful_is_left_to_the_usual_way(raw: bytes) -> None:
    assert read_batch(raw) is None


def test_longer_texts_are_left_to_a_thread() -> None:
    raw = write(*[step(n, summary="word " * 200) for n in range(1, 90)])

    assert len(raw) > LONGEST
    assert read_batch(raw) is None
    assert read_usually(raw) is not None


texts = st.text(max_size=30) | st.sampled_from(
    ['a:b","c":1', "\\", "\\u0041", "-0", ": -0", f"AWS_KEY={SECRET}", "password: x"]
)
numbers = st.integers(-1, 2**53) | st.floats() | st.booleans()
steps = st.fixed_dictionaries(
    {"number": st.integers(0, 5), "tokens": st.integers(0, 10**13)},
    optional={
        "tool_calls": st.integers(0, 5),
        "duration_ms": numbers,
        "cost_usd": st.sampled_from(["0", "1.5", "01", "0.0000001", "-1"]),
        "coherence": numbers | st.none(),
        "uncertainty": st.floats(0, 1),
        "confidences": st.lists(st.floats(0, 1), max_size=3),
        "intent": st.sampled_from(["debug", "other", None]),
        "summary": texts,
        "signature": texts | st.none(),
        "failed_calls": st.none() | st.integers(0, 3),
        "rework": st.booleans() | st.none(),
    },
)


@given(st.lists(steps, max_size=3), st.booleans())
def test_it_never_reads_anything_else(
    batch: list[dict[str, Any]], escapes: bool
) -> None:
    for each in batch:
        each.setdefault("tool_calls", 0)
    raw = json.dumps({"steps": batch}, ensure_ascii=escapes).encode(
        "utf-8", "surrogatepass"
    )

    found = read_quickly(raw)

    assert found is None or repr(found) == repr(read_usually(raw))
