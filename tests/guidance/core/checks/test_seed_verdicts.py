"""Rows VR-01 to VR-21, VR-39 and VR-40 of the seed's scenarios."""

from __future__ import annotations

import pytest

from guidance.core.checks import (
    FORMS,
    Verdict,
    VerdictProblem,
    read_verdict_body,
    read_verdict_text,
)
from guidance.core.checks.verdicts import RATIONALE_LIMIT, render_verdict
from tests.guidance.core.checks.builders import (
    body,
    body_problems,
    entry,
    read,
    why_not,
)
from tests.support.rows import each_row

BLOCK = "GATE_REVIEW: FAIL - Two of three\n{header}\n{lines}"
THREE = "[1] PASS - Clean\n[2] FAIL - No test\n[3] PASS - Described"


def block(lines: str, header: str = "GATE_VERDICTS") -> list[tuple[int, bool, str]]:
    verdict = read(BLOCK.format(header=header, lines=lines), gates=3)
    return [(one.index, one.passed, one.rationale) for one in verdict.per_gate]


@each_row(
    ("text", "form"),
    [
        pytest.param("GATE_REVIEW: {} - Because", "gate_review", id="VR-01"),
        pytest.param("GATE_REVIEW: {} : Because", "gate_review_colon", id="VR-02"),
        pytest.param("GATE {} - Because", "gate", id="VR-03"),
        pytest.param("GATE {} : Because", "gate_colon", id="VR-04"),
        pytest.param("GATE_REVIEW: {}: Because", "gate_review_colon", id="VR-02-close"),
        pytest.param("GATE {}: Because", "gate_colon", id="VR-04-close"),
    ],
)
@each_row("word", ["PASS", "FAIL"])
def test_the_four_long_forms(text: str, form: str, word: str) -> None:
    for bare in (True, False):
        verdict = read(text.format(word), bare=bare)
        assert (verdict.overall, verdict.rationale) == (word, "Because")
        assert (verdict.form, verdict.per_gate) == (form, ())


def test_vr_05_lower_case() -> None:
    assert read("gate_review: pass - fine").overall == "PASS"
    assert read("Gate Fail: no").overall == "FAIL"


def test_vr_06_the_bare_form_counts_in_the_verdict_field_alone() -> None:
    verdict = read("PASS - OK", bare=True)
    assert (verdict.overall, verdict.rationale, verdict.form) == ("PASS", "OK", "bare")
    assert read("\n **FAIL** — no \n", bare=True).rationale == "no"
    assert "alone counts only" in why_not("PASS - OK", bare=False)


@pytest.mark.parametrize(
    "text",
    ["I looked at it.\nPASS - lint", "PASS: 12\nFAIL: 0", "PASS-through is broken"],
)
def test_vr_06_the_bare_form_opens_the_field_and_has_a_dash(text: str) -> None:
    why_not(text, bare=True)


def test_vr_07_a_long_form_in_free_text() -> None:
    text = "I read the change.\n\nGATE_REVIEW: FAIL - No test covers it\nThat is all."
    assert read(text).rationale == "No test covers it"


@each_row("text", ["", " \n\t\n", "All criteria are met.", "PASS", "ok"])
def test_vr_08_other_text_is_no_verdict(text: str) -> None:
    for bare in (True, False):
        assert "no verdict line" in why_not(text, bare=bare)


@each_row(
    "text",
    [
        "GATE_REVIEW: PASS",
        "GATE_REVIEW: FAIL -",
        "GATE_REVIEW: PASS -   ",
        "GATE_REVIEW: PASS - …",
        "GATE_REVIEW: PASS - **",
        "GATE PASS",
        "GATE FAIL:",
        "GATE_REVIEW: PASS -\nThe reason is here",
    ],
)
def test_vr_09_no_rationale(text: str) -> None:
    problem = read_verdict_text(text, gates=None, bare=True)
    assert isinstance(problem, VerdictProblem)
    assert "missing" in problem.message
    assert problem.forms == FORMS


def test_vr_10_the_rationale_is_trimmed() -> None:
    assert read("  GATE_REVIEW:  PASS  -   fine as it is  \n").rationale == (
        "fine as it is"
    )


def test_vr_11_a_block_of_three() -> None:
    assert block(THREE) == [
        (1, True, "Clean"),
        (2, False, "No test"),
        (3, True, "Described"),
    ]


def test_vr_12_without_brackets() -> None:
    assert block("1 PASS - a\n2. FAIL - b\n3) pass: c") == [
        (1, True, "a"),
        (2, False, "b"),
        (3, True, "c"),
    ]


def test_vr_13_dashes_in_the_block() -> None:
    assert block("[1] PASS — a\n[2] FAIL – b\n[3] PASS: c") == [
        (1, True, "a"),
        (2, False, "b"),
        (3, True, "c"),
    ]


def test_vr_14_an_odd_line_ends_the_block() -> None:
    assert block("[1] PASS - a\nby the way\n[2] FAIL - b") == [(1, True, "a")]


def test_vr_14_what_stands_behind_the_odd_line_is_still_no_pass() -> None:
    lines = "[1] PASS - a\nby the way\n[2] FAIL - b"
    assert "line 5" in why_not(f"GATE_REVIEW: PASS - ok\nGATE_VERDICTS\n{lines}")


@each_row("lines", ["", "\n\n", "nothing", "[x] PASS - a", "[1] MAYBE - a"])
def test_vr_15_no_block_or_an_empty_one(lines: str) -> None:
    assert block(lines) == []
    assert read("GATE_REVIEW: FAIL - x").per_gate == ()


@each_row(
    "header",
    ["GATE_VERDICTS", "CRITERION_VERDICTS", "GATE_VERDICTS:", "**gate_verdicts:**"],
)
def test_vr_16_both_headers(header: str) -> None:
    assert len(block(THREE, header)) == 3


@each_row("count", [0, 1, 2, 5, 12, 40])
@each_row(
    "rationale",
    [
        "Plain",
        "a - b - c",
        "- opens with a hyphen",
        "a: b :: c",
        ": opens with a colon",
        "mentions GATE_VERDICTS and [1] FAIL - x",
        "GATE_VERDICTS",
        "was GATE_REVIEW: FAIL - before",
        "**bold** and `code`",
        "`code` first, **bold** last**",
        "— dashes –",
        "fail-safe paths are tested",
        "größer als ½ 漢字",
    ],
)
def test_vr_17_object_to_text_to_object(rationale: str, count: int) -> None:
    for overall in ("PASS", "FAIL"):
        entries = [
            entry(number, overall == "PASS" or number % 2 == 0, rationale=rationale)
            for number in range(1, count + 1)
        ]
        document = body(overall=overall, rationale=rationale, per_gate=entries)
        verdict = read_verdict_body(document, gates=count)
        assert isinstance(verdict, Verdict)
        again = read(render_verdict(verdict), gates=count)
        assert again == verdict
        assert again.to_json() == document | {"form": "gate_review"}
        assert verdict.to_json() == document | {"form": "structured"}


@each_row(
    "rationale",
    ["a\nb", "a\r\nb", "a\u2028b", "", "   ", "...", "<reason>", None, 1, "x" * 2_001],
)
def test_vr_18_a_rationale_is_one_line_of_words(rationale: object) -> None:
    assert set(body_problems(body(rationale=rationale))) == {"rationale"}
    inner = [entry(rationale=rationale)]
    assert set(body_problems(body(per_gate=inner))) == {"per_gate.0.rationale"}


def test_vr_18_a_missing_rationale() -> None:
    assert set(body_problems({"overall": "PASS"})) == {"rationale"}
    assert RATIONALE_LIMIT == 2_000
    assert "2000" in why_not("GATE_REVIEW: FAIL - " + "x" * 2_001)


@each_row("index", [0, -1, 1.5, 1.0, True, "1", None, 4])
def test_vr_19_an_index_is_a_whole_number_within_the_check(index: object) -> None:
    problems = body_problems(body(per_gate=[entry(index)]))
    assert set(problems) == {"per_gate.0.index"}


@pytest.mark.parametrize("index", [0, 4, 999_999])
def test_vr_19_an_index_in_a_text_lies_within_the_check(index: int) -> None:
    text = f"GATE_REVIEW: FAIL - x\nGATE_VERDICTS\n[{index}] FAIL - y"
    assert "must be from 1 to 3" in why_not(text, gates=3)


def test_two_entries_for_one_gate() -> None:
    entries = [entry(2), entry(1), entry(2)]
    assert set(body_problems(body(per_gate=entries))) == {"per_gate.2.index"}
    text = "GATE_REVIEW: FAIL - x\nGATE_VERDICTS\n[1] PASS - y\n[1] PASS - z"
    assert "gate 1 has two entries" in why_not(text)


@each_row("word", ["MAYBE", "pass", "Fail", "", None, True])
def test_vr_20_no_third_word(word: object) -> None:
    assert set(body_problems(body(overall=word))) == {"overall"}


@each_row("word", ["MAYBE", "PASSED", "FAILURE", "OK"])
def test_vr_20_no_third_word_in_a_text(word: str) -> None:
    why_not(f"GATE_REVIEW: {word} - because", bare=True)


def test_vr_21_padding_is_trimmed() -> None:
    document = body(rationale="  fine \t", per_gate=[entry(rationale=" a\n")])
    verdict = read_verdict_body(document, gates=1)
    assert isinstance(verdict, Verdict)
    assert (verdict.rationale, verdict.per_gate[0].rationale) == ("fine", "a")


@each_row(
    ("text", "rationale"),
    [
        ("GATE_REVIEW: FAIL — em", "em"),
        ("GATE_REVIEW: FAIL – en", "en"),
        ("GATE_REVIEW: FAIL—close", "close"),
        ("GATE_REVIEW: FAIL -- two", "two"),
        ("**GATE_REVIEW: FAIL - bold**", "bold"),
        ("**GATE_REVIEW:** FAIL - use **bold**", "use **bold**"),
        ("**GATE_REVIEW: FAIL** - use `code`", "use `code`"),
        ("**GATE_REVIEW: FAIL -** after", "after"),
        ("GATE_REVIEW: **FAIL** - middle", "middle"),
        ("GATE_REVIEW: **FAIL - open**", "open"),
        ("`GATE_REVIEW: FAIL - ticks`", "ticks"),
        ("**`GATE_REVIEW: FAIL - both`**", "both"),
        ("GATE_REVIEW: `FAIL` - tick", "tick"),
        ("**GATE FAIL**: gate", "gate"),
        ("__GATE_REVIEW: FAIL - low__", "low"),
        ("Here is my verdict.\n\n> quoted\n\n  GATE_REVIEW: FAIL - late", "late"),
        ("```\nGATE_REVIEW: FAIL - block\n```", "block"),
        ("```GATE_REVIEW: FAIL - line```", "line"),
    ],
)
def test_vr_39_dashes_bold_backticks_and_preambles(text: str, rationale: str) -> None:
    for word in ("FAIL", "PASS"):
        verdict = read(text.replace("FAIL", word))
        assert (verdict.overall, verdict.rationale) == (word, rationale)


def test_vr_40_pass_with_a_failing_entry() -> None:
    problems = body_problems(body(per_gate=[entry(1), entry(2, passed=False)]))
    assert problems == {"per_gate.1.passed": "overall is PASS, and gate 2 failed"}
    for header in ("GATE_VERDICTS", "criterion_verdicts"):
        text = f"GATE_REVIEW: PASS - ok\n{header}\n{THREE}"
        assert "gate 2 failed" in why_not(text, gates=3)
        assert "gate 2 failed" in why_not(f"{header}\n{THREE}\n\nGATE PASS - ok")


def test_fail_stands_even_if_every_entry_passes() -> None:
    verdict = read_verdict_body(body(overall="FAIL", per_gate=[entry(1)]), gates=1)
    assert isinstance(verdict, Verdict)
    assert not verdict.passed


@each_row(
    ("document", "path"),
    [
        (None, "verdict"),
        ([], "verdict"),
        ({"rationale": "x"}, "overall"),
        (body(form="bare"), "form"),
        (body(per_gate={}), "per_gate"),
        (body(per_gate=None), "per_gate"),
        (body(per_gate=[entry(extra=1)]), "per_gate.0.extra"),
        (body(per_gate=[entry(passed=1)]), "per_gate.0.passed"),
        (body(per_gate=[entry(passed="PASS")]), "per_gate.0.passed"),
        (body(per_gate=[{"index": 1, "rationale": "x"}]), "per_gate.0.passed"),
        (body(per_gate=[{"passed": True, "rationale": "x"}]), "per_gate.0.index"),
        (body(rationale="FAIL - not at all"), "rationale"),
        (body(rationale="fine\u202e"), "rationale"),
    ],
)
def test_a_structured_verdict_is_read_strictly(document: object, path: str) -> None:
    assert set(body_problems(document)) == {path}
