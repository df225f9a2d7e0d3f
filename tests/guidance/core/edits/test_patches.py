"""A patch comes apart file by file, and together again to the letter."""

from __future__ import annotations

import pytest

from guidance.core.edits.patches import find_line_problem, join_patch, split_patch
from tests.support.rows import each_row

pytestmark = pytest.mark.once("uses no database")

WHOLE = """*** Begin Patch
*** Update File: a b.py
*** Move to: c.py
@@
 x

-y
+z
*** End of File
*** Delete File: d.py
*** Add File: e.py
+1
*** End Patch
"""


def test_a_patch_comes_together_as_it_was() -> None:
    files = split_patch(WHOLE)
    assert files is not None
    assert [(each.verb, each.path) for each in files] == [
        ("Update", "a b.py"),
        ("Delete", "d.py"),
        ("Add", "e.py"),
    ]
    assert join_patch(files) == WHOLE
    assert split_patch(WHOLE.rstrip()) == files
    for each in files:
        assert find_line_problem(each.verb, each.lines) is None


@each_row(
    "odd",
    [
        "",
        "+x",
        "*** Begin Patch\n*** End Patch\n",
        WHOLE.replace("\n", "\r\n"),
        f"# A patch\n{WHOLE}",
        f"{WHOLE}+after\n",
        WHOLE.replace("*** Begin Patch", "*** Begin Patch\n+before"),
        WHOLE.replace("*** End Patch\n", ""),
    ],
    ids=ascii,
)
def test_what_would_lose_something_is_left_whole(odd: str) -> None:
    assert split_patch(odd) is None


@each_row(
    ("verb", "lines"),
    [
        ("Update", "x"),
        ("Add", " x"),
        ("Delete", "+x"),
        ("Add", "+x\n*** Begin Patch"),
        ("Update", "*** Add File: x"),
    ],
)
def test_lines_that_cannot_stand_there(verb: str, lines: str) -> None:
    assert find_line_problem(verb, lines)
