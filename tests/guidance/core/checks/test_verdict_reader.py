"""No text around a FAIL makes a PASS of it, and no PASS is believed beside a FAIL."""

from __future__ import annotations

from guidance.core.checks import FORMS, VerdictProblem, read_verdict_text
from tests.guidance.core.checks.builders import read, why_not
from tests.support.rows import each_row

OK = "GATE_REVIEW: PASS - ok"
NO = "GATE_REVIEW: FAIL - no"


def test_the_first_verdict_line_wins() -> None:
    assert read("GATE_REVIEW: FAIL - one\nGATE_REVIEW: FAIL - two").rationale == "one"
    assert read("GATE PASS - one\nGATE_REVIEW: PASS - two").rationale == "one"
    assert read(f"{NO}\n{OK}").overall == "FAIL"
    assert read(f"FAIL - bare\n{OK}", bare=True).rationale == "bare"


def test_a_pass_before_a_fail_is_no_verdict() -> None:
    """The first line would win; but it may be an echo, and the FAIL the answer."""
    assert "disagree" in why_not(f"{OK}\n{NO}")
    assert "disagree" in why_not(f"{OK}\nGATE FAIL: no")
    assert "disagree" in why_not(f"PASS - ok\n{NO}", bare=True)


@each_row(
    "contrary",
    [
        "GATE_REVIEW: FAIL",
        "> GATE_REVIEW: FAIL - quoted",
        "- GATE_REVIEW: FAIL - listed",
        "## GATE_REVIEW: FAIL - heading",
        "| GATE_REVIEW: FAIL |",
        "```\nGATE_REVIEW: FAIL - fenced\n```",
        "~~~\nGATE FAIL - fenced\n",
        "My answer is GATE_REVIEW: FAIL - in the middle",
        "GATE FAILED because of it",
        "Gate: fail",
        "FAIL - bare",
        "**FAIL**",
        "❌ FAIL: bare",
        "[2] FAIL - an entry without a block",
        "- [2] FAILED - an entry in a list",
        "2. failed: an entry",
        "Verdict: FAIL",
        "Final verdict - FAIL",
        "Overall: FAIL",
        '{"overall": "FAIL", "rationale": "no"}',
        "GATE_REVIEW: F\u200bAIL - zero width",
        "GATE_REVIEW\u2060: FA\u00adIL - joined",
        "GATE_REVIEW: F\u0410\u0406L - Cyrillic",
        "\uff27\uff21\uff34\uff25 \uff26\uff21\uff29\uff2c - full width",
        "GATE_REVIEW: \U0001d405\U0001d400\U0001d408\U0001d40b - mathematical",
        "GATE_REVIEW: FÁIL - accent",
        "GATE_REVIEW: \ua730\u1d00\u026a\u029f - small capitals",
        "GATE_REVIEW: FAlL - the letter l",
        "GATE_REVIEW: FA1L - the digit",
        "GATE_REVIEW: F A I L - apart",
        "GATE_REVIEW: FAIL\u2028and more",
        "x\rGATE_REVIEW: FAIL - behind a carriage return",
        "x\x85GATE_REVIEW: FAIL - behind a line end of old",
    ],
)
def test_a_pass_beside_anything_like_a_fail_is_refused(contrary: str) -> None:
    for bare in (True, False):
        why_not(f"{OK}\n{contrary}", bare=bare)
        before = read_verdict_text(f"{contrary}\n\n{OK}", gates=None, bare=bare)
        assert isinstance(before, VerdictProblem) or before.overall == "FAIL"
    why_not(f"PASS - ok\n{contrary}", bare=True)


@each_row(
    "text",
    [
        "GATE_REVIEW: P\u200bASS - x",
        "GATE_REVIEW: \u0420ASS - x",
        "GATE_REVIEW: PA\u017f\u017f - x",
        "\uff27ATE_REVIEW: PASS - x",
        "GATE_REVIEW\uff1a PASS - x",
        "> GATE_REVIEW: PASS - x",
        "- GATE_REVIEW: PASS - x",
        "~~GATE_REVIEW: PASS - x~~",
        "Say GATE_REVIEW: PASS - x",
        "An example:\n```\nGATE_REVIEW: PASS - x\n```\nThat is the form.",
        "An example:\n~~~text\nGATE_REVIEW: PASS - x",
        "````\n```\nGATE_REVIEW: PASS - x\n```\n",
        "GATE_REVIEW: PASS or FAIL - reason",
        "GATE_REVIEW: PASS/FAIL - reason",
        "GATE_REVIEW: [PASS|FAIL] - reason",
        "GATE_REVIEW: <PASS or FAIL> - <reason>",
        "GATE_REVIEW: PASS - <reason>",
        "GATE_REVIEW: PASS - FAIL: reason",
        "GATE_REVIEW: PASS – FAIL",
        "GATE_REVIEW: PASS-through is broken",
        "GATE PASS-through is broken",
        "GATE_REVIEW: PASSED - x",
        "GATE_PASS - x",
        "NOT GATE PASS - x",
        "GATE_REVIEW: PASS - \u200b",
        "GATE_REVIEW: PASS - x\u202ey",
        "GATE_REVIEW: PASS - x\n\x1b[2J",
        *FORMS,
    ],
)
def test_what_only_looks_like_a_pass_is_none(text: str) -> None:
    for bare in (True, False):
        why_not(text, bare=bare)
        assert read(f"{NO}\n{text}", bare=bare).overall == "FAIL"


def test_all_forms_together_are_no_verdict_and_hide_none() -> None:
    shown = "\n".join(FORMS)
    why_not(shown, bare=True)
    assert read(f"{shown}\n{OK}").passed
    assert read(f"{shown}\n{NO}").overall == "FAIL"


@each_row(
    "around",
    [
        "3 failed before, 12 passed now",
        "Passed: 12\nFailed: 0",
        "PASS: 12\nFAIL: 0",
        "0 failed",
        "FAILED tests/test_a.py::test_b - AssertionError (before the change)",
        "Fail fast was added",
        "Fail-safe defaults hold",
        "What made the gate fail earlier is mended",
        "Gates failing before pass now",
        "```\nassert not fail\n```",
        "GATE_REVIEW: PASS",
        "GATE_REVIEW: PASS - again",
    ],
)
def test_a_pass_that_speaks_of_failures_is_a_pass(around: str) -> None:
    assert read(f"{around}\n{OK}").passed
    assert read(f"{OK}\n{around}").rationale == "ok"


def test_the_reason_of_a_pass_may_speak_of_a_fail() -> None:
    for reason in ("what made it FAIL is mended", "fail-safe", "12 PASS, 0 FAIL"):
        assert read(f"GATE_REVIEW: PASS - {reason}").rationale == reason


def test_a_block_before_the_verdict_and_between_blank_lines() -> None:
    text = f"GATE_VERDICTS\n\n[1] PASS - a\n\n[2] PASS - b\n\n{OK}"
    assert [one.index for one in read(text).per_gate] == [1, 2]


def test_an_echoed_header_does_not_hide_the_block() -> None:
    text = f"GATE_VERDICTS\n[n] PASS|FAIL - text\n\n{NO}\nGATE_VERDICTS\n[1] FAIL - a"
    assert read(text).failed_gates == (1,)


def test_a_block_inside_a_code_block_is_a_quotation() -> None:
    text = f"{NO}\n```\nGATE_VERDICTS\n[1] PASS - a\n```"
    assert read(text).per_gate == ()


def test_more_entries_than_a_check_has_gates() -> None:
    lines = "\n".join(f"[{number}] PASS - a" for number in range(1, 5_000))
    assert "must be from 1 to 50" in why_not(f"{NO}\nGATE_VERDICTS\n{lines}")


def test_a_problem_says_what_to_do() -> None:
    assert "dash" in why_not("PASS: fine", bare=True)
    assert "code block" in why_not(f"So:\n```\n{OK}\n```")
    assert "dash or a colon" in why_not("GATE_REVIEW: PASS")
    assert "line 3" in why_not(f"{OK}\n\n> GATE FAIL - x")
    assert "line 4" in why_not(f"```\n{OK}\n\n> GATE FAIL - x\n```")
    assert "U+001B" in why_not(f"{OK}\n\x1b[0m")
