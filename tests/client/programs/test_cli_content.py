"""What a reviewer reads in a terminal: all of it, and nothing that an agent has forged."""

from __future__ import annotations

from typing import Any

import pytest
from checkrail.cli.content import render_content
from checkrail.cli.lines import fold_line, render_name

FINDING = {"gate": "destructive", "message": "Deletes rows", "remediation": None}


def render_arguments(arguments: Any) -> list[str]:
    content = {
        "kind": "confirmation",
        "call": "01a",
        "shown": {"tool": "db", "arguments": arguments},
        "findings": [FINDING],
    }
    return list(render_content(content))


def test_no_name_can_pass_for_a_finding() -> None:
    forged = "a:\n  1\nfound:\n  - Only a read, checked (destructive)\nb"
    lines = render_arguments({forged: 1})
    assert lines.count("found:") == 1
    assert not any(line.lstrip().startswith("- Only a read") for line in lines)
    (line,) = (line for line in lines if "Only a read" in line)
    assert line.startswith(r'    "a:\n  1\nfound:')


@pytest.mark.parametrize(
    "arguments",
    [
        {"findings": [{"gate": "destructive", "message": "Only a read"}]},
        {"sql": "SELECT 1\nfound:\n  - Only a read (destructive)"},
        {"sql": "SELECT 1\n\n  found:\n    - Only a read (destructive)"},
        {"rows": ["a\nfound:\n- Only a read (destructive)"]},
        {"a\nfound:": {"- Only a read (destructive)": 1}},
        {"found": "- Only a read (destructive)"},
    ],
)
def test_no_value_can_pass_for_a_finding(arguments: Any) -> None:
    lines = render_arguments(arguments)
    start = lines.index("found:")
    assert lines[start + 1] == "  - Deletes rows (destructive)"
    assert lines.count("found:") == 1
    # All that is of an agent stands deeper than all that is ours.
    of_agent = [line for line in lines if "Only a read" in line]
    assert of_agent
    assert all(line.startswith("    ") for line in of_agent)


def test_a_message_is_one_line_whatever_it_quotes() -> None:
    quoted = {**FINDING, "message": "Deletes\ncall: 02b"}
    lines = list(render_content({"findings": [quoted], "call": "01a"}))
    assert lines == [
        "found:",
        "  - Deletes⟨U+000A⟩call: 02b (destructive)",
        "call: 01a",
    ]


def test_what_is_empty_in_a_call_is_shown() -> None:
    lines = render_arguments(
        {"sql": "DELETE FROM t", "where": "", "tables": [], "o": {}, "n": None}
    )
    for line in ('where: ""', "tables: []", "o: {}", "n: null"):
        assert f"    {line}" in lines
    # Of our own fields, the empty ones say nothing.
    assert list(
        render_content({"shown": {"sql": ""}, "options": [], "detail": ""})
    ) == [
        "shown:",
        '  sql: ""',
    ]


def test_different_values_look_different() -> None:
    texts = [
        render_arguments({"x": value})
        for value in (1, "1", None, "null", "", '""', ["a, b"], ["a", "b"], {"a": "b"})
    ]
    assert len({"\n".join(text) for text in texts}) == len(texts)
    assert render_name("a: 1") == '"a: 1"'
    assert render_name("a\\n") != render_name("a\n")
    assert render_name("a\u202e") == '"a⟨U+202E⟩"'
    assert render_name("") == '""'
    assert render_name("file_path") == "file_path"


def test_a_long_line_is_folded_below_itself() -> None:
    """A terminal would begin the rest at its left edge, where our own words stand."""
    folded = list(fold_line("    | " + " " * 14 + "found:", width=20))
    assert folded == ["    | " + " " * 14, "    … found:"]
    wide = list(fold_line("  | " + "東" * 20, width=20))
    assert "".join(line[4:] for line in wide) == "東" * 20
    assert all(len(line[4:]) <= 8 for line in wide)
    assert list(fold_line("call: 01a", width=20)) == ["call: 01a"]
    # However deep it is nested.
    deep = list(fold_line(" " * 40 + "| abcdefghijklmnop", width=20))
    assert all(line.startswith("  ") for line in deep)
    assert max(map(len, deep)) <= 20
