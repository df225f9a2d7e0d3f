"""Reading takes linear time: no text makes it try again and again."""

from __future__ import annotations

import time

from guidance.core.checks import read_verdict_text
from tests.support.rows import each_row

SIZE = 1 << 18
OK = "GATE_REVIEW: PASS - ok\n"
NO = "GATE_REVIEW: FAIL - no\n"
# What is repeated until the size is reached, after a line that makes all of it read.
BOMBS = {
    "line-ends": "\n",
    "short-lines": "a\n",
    "blanks": " ",
    "marks": "*_`",
    "gates": "GATE ",
    "gate-and-signs": "GATE-",
    "reviews": "GATE_REVIEW ",
    "passes": OK,
    "fails": NO,
    "bare": "PASS - a\n",
    "headers": "GATE_VERDICTS\n",
    "headers-and-blank-lines": "GATE_VERDICTS\n\n\n\n\n\n",
    "entries": "GATE_VERDICTS\n[1] PASS - a\n",
    "fences": "```\n",
    "open-fences": "```a\n~~~b\n",
    "ticks": "`",
    "letters": "F A I ",
    "digits": "1.",
    "brackets": "[1] ",
    "zero-width": "\u200b",
    "marks-on-letters": "F\u0301\u0316",
    "other-letters": "\u0424\u0410\u0406",
    "hyphens": "FAIL-",
}


@each_row("name", BOMBS)
@each_row("start", ["", OK, f"{NO}GATE_VERDICTS\n"], ids=["alone", "pass", "fail"])
def test_a_bomb_is_read_in_a_moment(start: str, name: str) -> None:
    bomb = BOMBS[name]
    text = start + bomb * (SIZE // len(bomb.encode()))
    began = time.process_time()
    read_verdict_text(text, gates=3, bare=True)
    # A tenth of that at most on a quiet machine; something quadratic would take minutes.
    assert time.process_time() - began < 5
