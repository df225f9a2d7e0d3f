"""Calls made to be slow: the work is counted, and what is too much is never allowed.

No test here asks a clock; `make bench-gates` does.
"""

from __future__ import annotations

import pytest

from guidance.core.edits import Edit
from guidance.core.tools.calls import CommandCall, MultiEditCall
from guidance.core.tools.destructive import TEXTS_LIMIT
from tests.guidance.core.shell_commands.test_bombs import MOST_CALLS, calls
from tests.guidance.core.tools.bombs import combinations, mixtures
from tests.guidance.core.tools.builders import command, judged, several, use
from tests.guidance.core.tools.edit_bombs import edit_bombs

# Each as slow as any other for one part of the work.
SLOWEST = (
    *("passwords", "pieces", "secret keys", "queries", "a script and passwords"),
    *("unseen/1, 6 lines", "letters-of-others/1, 3 lines", "holders, 20 lines"),
    *("borders", "half line ends", "lines in other white space", "overlaps"),
    *("nearly found, 50 in 2400", "similar lines, 8 of 3 lines of 2"),
    *("1000 places, 7 '\\n' between, 'b\\nb' 6", "1500 lines twice"),
)


def test_no_call_takes_more_work_than_is_allowed() -> None:
    bombs = {**mixtures(), **combinations(), **edit_bombs()}
    assert [
        name
        for name in SLOWEST
        if calls(lambda _, call=bombs[name]: judged(call), "") > MOST_CALLS  # type: ignore[misc]
    ] == []


def test_all_texts_of_a_call_share_what_is_read() -> None:
    few = [f"ls {n};" * 10 for n in range(30)]
    assert judged(use(commands=few)).decision == "allow"
    many = [f"rm {n};" * 10 for n in range(100)]
    first, *others = judged(use(commands=many)).findings
    assert (first.details["rule"], first.details["text"]) == ("opaque-size", "")
    assert others
    words = [f"word{n}" for n in range(TEXTS_LIMIT + 1)]
    (finding,) = judged(use(commands=words)).findings
    assert finding.details["uninspectable"] is True


def test_a_text_that_stands_twice_is_judged_once_and_told_in_both_places() -> None:
    line = "curl -u admin:" + "Zx81k9 https://host"
    verdict = judged(command(line, arguments={"command": line}))
    assert [finding.details["argument"] for finding in verdict.findings] == [
        "/command",
        "/arguments/command",
    ]


def test_a_long_script_leaves_less_for_the_search() -> None:
    """Both are paid for together; what is not looked at is hidden, and held."""
    names = "".join(f"password=changeme-{n}\n" for n in range(400))
    script = mixtures()["a script and passwords"]
    assert isinstance(script, CommandCall)

    alone = judged(command("ls", arguments={"a": names}))
    with_script = judged(command(script.command, arguments={"a": names}))

    assert (alone.decision, alone.redacted) == ("allow", False)
    assert (with_script.decision, with_script.redacted) == ("block", True)


def test_edits_that_are_hard_to_plan_leave_less_for_the_search() -> None:
    names = "".join(f"password=changeme-{n}\n" for n in range(150))
    hard = several(*hard_to_find(), ("the end", names))
    easy = several("the end", ("the end", names))

    assert (judged(easy).decision, judged(easy).redacted) == ("allow", False)
    assert (judged(hard).decision, judged(hard).redacted) == ("block", True)


def test_what_is_too_much_to_plan_is_told_in_our_own_words() -> None:
    """Also where all that the call says had to be hidden: no word of it is in them."""
    names = "".join(f"password=changeme-{n}\n" for n in range(4_000))
    text, *edits = hard_to_find()
    verdict = judged(several(text, *edits * 6, ("the end", names)))
    assert verdict.redacted
    assert verdict.findings[0].gate == "multi_edit"
    assert "send fewer at once" in verdict.findings[0].message


def hard_to_find() -> tuple[str, *tuple[tuple[str, str], ...]]:
    """A long file, and edits for which it is searched from end to end."""
    lines = "".join(f"line {n}: {'x' * 30}\n" for n in range(5_000))
    edits = [(f"line {n}:", f"LINE {n}:") for n in range(4_950, 4_980)]
    return f"{lines}the end\n", *edits


def test_what_nobody_sees_is_taken_out_as_long_as_it_is_worth_it() -> None:
    token = "gh" + "p_" + "Zx81k9Qw" * 4 + "Ab12"
    hidden = "\u200b".join(token)
    assert judged(use(a=hidden)).decision == "block"

    verdict = judged(use(a="g\u200bh" * 80_000))

    assert (verdict.decision, verdict.redacted) == ("block", True)


@pytest.mark.parametrize("old", ["x", "password=Zx81" + "k9"])
def test_more_than_is_read_blocks_wherever_it_stands(old: str) -> None:
    """Also in what an edit only takes away: what comes after it was not looked at."""
    taken = "".join(f"password=Zx81{n}k\n" for n in range(900))
    call = several(f"{taken}{old}", (f"{taken}{old}", "y"))
    verdict = judged(call)
    assert (verdict.decision, verdict.redacted) == ("block", True)
    assert {finding.details.get("kind") for finding in verdict.findings} >= {
        "unread-rest"
    }


def test_a_secret_that_is_put_in_thousands_of_places_blocks() -> None:
    edit = Edit(old="a", new="password=Zx81" + "k9Qw", replace_all=True)
    call = MultiEditCall(tool="E", file_path="a", original="a\n" * 3_000, edits=(edit,))
    assert judged(call).decision == "block"
