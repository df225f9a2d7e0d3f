"""Nothing harmless beside or around an argument makes a tool's call look less dangerous."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.tools.calls import Call, EditCall, ToolCall
from guidance.core.tools.judge_call import PARTS_LIMIT, judge_call
from guidance.core.tools.section import ToolRules
from guidance.core.vocabulary import get_call_severity
from tests.guidance.core.tools.builders import KEY, edit, judged, use
from tests.guidance.core.tools.held_tools import HELD
from tests.support.examples import examples
from tests.support.rows import each_row

Arguments = Mapping[str, Any]
Pad = Callable[[Arguments, int], Arguments]
TOOLS = tuple(call for call in HELD if isinstance(call, ToolCall))
EDITS = tuple(call for call in HELD if isinstance(call, EditCall))
# More than any reader once took, and more than any of them takes at all.
COUNTS = st.sampled_from((1, 2, 9, 70, 1_001, 20_000))


def _nest(value: object, depth: int) -> object:
    for _ in range(min(depth, 60)):
        value = {"note": [value]}
    return value


BESIDE: dict[str, Pad] = {
    "names before": lambda given, n: {**{f"note{i}": "x" for i in range(n)}, **given},
    "names behind": lambda given, n: {**given, **{f"note{i}": "x" for i in range(n)}},
    "a list before": lambda given, n: {"notes": ["a word"] * n, **given},
    "a list behind": lambda given, n: {**given, "notes": ["a word"] * n},
    "objects before": lambda given, n: {"notes": [{"text": "x"}] * n, **given},
    "numbers before": lambda given, n: {"notes": [[1, 2.5]] * n, **given},
    "a long text before": lambda given, n: {"note": "a word " * n, **given},
    "something deep before": lambda given, n: {"note": _nest("x", n), **given},
}


def weigh(call: Call) -> int:
    """The smaller, the worse."""
    verdict = judge_call(rules=ToolRules(), call=call, fingerprint_key=KEY)
    return get_call_severity(verdict.decision)


@examples(2_000)
@given(st.sampled_from(TOOLS), st.sampled_from(sorted(BESIDE)), COUNTS)
def test_what_stands_beside_an_argument_lowers_nothing(
    call: ToolCall, padding: str, count: int
) -> None:
    padded = replace(call, arguments=BESIDE[padding](call.arguments or {}, count))
    assert weigh(padded) <= weigh(call)


@examples(500)
@given(st.sampled_from(EDITS), COUNTS)
def test_lines_around_a_written_text_lower_nothing(call: EditCall, count: int) -> None:
    if call.content.startswith(("{", "on:")):
        return  # one document: lines around it would be another
    for content in ("\n" * count + call.content, call.content + "\n" * count):
        assert weigh(replace(call, content=content)) <= weigh(call)


@each_row(
    "build",
    [
        lambda n: use("Shell", commands=["ls"] * n + ["rm -rf /srv/data"]),
        lambda n: use(
            "run_command", command=["sudo", *["-E"] * n, "rm", "-rf", "/srv"]
        ),
        lambda n: use("exec", command="rm", args=["-v"] * n + ["-rf", "/srv/data"]),
        lambda n: use("query", statements=["SELECT 1"] * n + ["DROP TABLE users"]),
        lambda n: use("delete_files", paths=["$TMPDIR/a"] * n + ["/srv/data"]),
        lambda n: use("read_files", paths=["a.py"] * n + ["/home/me/.ssh/id_rsa"]),
        lambda n: use("manage", action="terminate" + " " * n, instance="web"),
        lambda n: use(
            "write_files",
            files=[{"path": f"a{i}", "content": "x"} for i in range(n)]
            + [{"path": "/home/me/.bashrc", "content": "x"}],
        ),
    ],
)
def test_the_last_item_is_read_as_the_first(build: Callable[[int], Call]) -> None:
    for count in (0, 1, 199, 1_001, 5_000, 20_000):
        begun = time.thread_time()
        assert weigh(build(count)) <= get_call_severity("require-confirmation"), count
        # Some 100 ms on a machine of its own.
        assert time.thread_time() - begun < 1


def test_a_call_of_more_values_than_can_be_searched_is_blocked_at_once() -> None:
    most = PARTS_LIMIT - 2  # the list and its name
    (finding,) = judged(use("plot", rows=[1] * (most + 1))).findings
    assert (finding.gate, finding.decision) == ("arguments", "block")
    assert "16,000 values" in finding.message
    blocked = judged(use("plot", rows={f"a{i}": {"b": "c"} for i in range(5_000)}))
    assert (blocked.decision, blocked.tool, blocked.shown) == ("block", "plot", {})
    assert judged(use("plot", rows=[True] * most)).decision == "allow"
    assert judged(edit("x\n" * 20_000)).decision != "block"
