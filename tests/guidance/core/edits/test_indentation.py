"""What is found by its lines whatever their white space is indented as the file is."""

from __future__ import annotations

from tests.guidance.core.edits.builders import layers, plan_changes
from tests.support.rows import each_row

TABS = "def f():\n\tif a:\n\t\tb = 1\n\treturn b\n"
SPACES = "class A:\n    def f(self):\n        return  1\n"


@each_row(
    "row",
    [
        (
            "deeper lines, by the level that the others show",
            TABS,
            "    if a:\n        b = 1\n",
            "    if a:\n        if c:\n            b = 2\n        b()\n",
            "def f():\n\tif a:\n\t\tif c:\n\t\t\tb = 2\n\t\tb()\n\treturn b\n",
        ),
        (
            "a line that is indented less than any that was found",
            TABS,
            "        b = 1",
            "        b = 2\n    c()\nd()",
            "def f():\n\tif a:\n\t\tb = 2\n\tc()\nd()\n\treturn b\n",
        ),
        (
            "copied from behind the indentation of its first line",
            TABS,
            "if a:\n        b = 1",
            "if a:\n        b = 2\n    c()",
            "def f():\n\tif a:\n\t\tb = 2\n\tc()\n\treturn b\n",
        ),
        (
            "copied without the indentation that all have",
            TABS,
            "if a:\n    b = 1\n",
            "if a:\n    if c:\n        b = 2\nd()\n",
            "def f():\n\tif a:\n\t\tif c:\n\t\t\tb = 2\n\td()\n\treturn b\n",
        ),
        (
            "tabs for a file of blanks",
            "x:\n  y:\n    z: 1\n",
            "\ty:\n\t\tz: 1\n",
            "\ty:\n\t\tz: 2\n\t\tw:\n\t\t\tv: 1\n",
            "x:\n  y:\n    z: 2\n    w:\n      v: 1\n",
        ),
        (
            "blanks for blanks, the rest of a line as it was given",
            SPACES,
            "def f(self):\n    return 1",
            "def f(self):\n    if x:\n        return  2\n\n    return 1\ng = 2",
            "class A:\n    def f(self):\n        if x:\n            return  2\n\n"
            "        return 1\n    g = 2\n",
        ),
        (
            "a new first line that is indented, before one that is not",
            TABS,
            "def f():\n    if a:\n",
            "    x = 1\ndef f():\n    if a:\n        c()\n",
            "\tx = 1\ndef f():\n\tif a:\n\t\tc()\n\t\tb = 1\n\treturn b\n",
        ),
        (
            "the same, behind the indentation that stays",
            TABS,
            "if a:\n    b = 1\n",
            "    x = 1\nif a:\n    b = 1\n",
            "def f():\n\t\tx = 1\n\tif a:\n\t\tb = 1\n\treturn b\n",
        ),
        (
            "the same indentation, another white space within the line",
            SPACES,
            "def f(self):\n        return 1",
            "def f(self):\n        return 2\n    g = 1",
            "class A:\n    def f(self):\n        return 2\n    g = 1\n",
        ),
        (
            "lines that end with CRLF",
            "\ta = 1\r\n\tb  = 2\r\n",
            "    a = 1\n    b = 2\n",
            "    a = 1\n    c = 3\n",
            "\ta = 1\r\n\tc = 3\r\n",
        ),
    ],
    ids=lambda row: row[0],
)
def test_new_lines_are_indented_as_those_they_replace(
    row: tuple[str, str, str, str, str],
) -> None:
    _, text, old, new, expected = row
    plan = plan_changes(text, (old, new))
    assert layers(plan) == ["whitespace"]
    assert plan.result == expected


def test_each_place_has_its_own_indentation() -> None:
    text = "\ta = 1\n\t\ta  = 1\n"
    plan = plan_changes(text, ("  a = 1\n", "  b = 2\n  c = 3\n", True))
    assert plan.result == "\tb = 2\n\tc = 3\n\t\tb = 2\n\t\tc = 3\n"


def test_what_is_found_to_the_letter_is_put_in_to_the_letter() -> None:
    plan = plan_changes(TABS, ("\t\tb = 1\n", "    b = 2\n"))
    assert layers(plan) == ["exact"]
    assert "\tif a:\n    b = 2\n" in plan.result


def test_what_is_nearly_the_same_is_put_in_as_it_is_given() -> None:
    text = "\tspeed = measure(the_quick_brown_fox, over=the_lazy_dog)\n"
    old = "  speed = measure(the_quick_brown_fox, over=the_lazy_cat)\n"
    plan = plan_changes(text, (old, "    x = 1\n"))
    assert layers(plan) == ["similarity"]
    assert plan.result == "    x = 1\n"
