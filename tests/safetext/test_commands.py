"""A command in its parts: nothing is left out, nothing resolved, borders are seen."""

from __future__ import annotations

from guidance.core.shell_commands import Part, Token, split_command
from safetext import Mark, build_marks, show_command
from safetext.commands import Box


def get_shown_text(box: Box) -> str:
    return "".join(part.shown for group in box.groups for part in group.segments)


def test_m45_sixty_arguments_are_all_listed_and_counted() -> None:
    words = ["rm", *(f"file{number}" for number in range(58)), "/etc", "last"]
    command = " ".join(words)
    (row,) = show_command(command, split_command(command)).rows
    assert row.count == 60
    assert [get_shown_text(row.name), *map(get_shown_text, row.arguments)] == words


def test_m46_m47_what_cannot_be_inspected_is_labelled() -> None:
    command = "echo cm0K | base64 -d | sh"
    finding = {
        "message": "Decoded text is run",
        "details": {
            "rule": "opaque",
            "span": [24, 26],
            "argument": "/command",
            "uninspectable": True,
        },
    }
    other = {"message": "elsewhere", "details": {"span": [0, 1], "argument": "/x"}}
    spanless = {"message": "no place", "details": {}}
    marks = build_marks([finding, other, spanless], argument="/command")
    view = show_command(command, split_command(command), marks=marks)
    label = "cannot be inspected: Decoded text is run"
    assert [row.flagged for row in view.rows] == [(), (), (label,)]
    (line,) = view.text.lines
    assert [group.marks for group in line.groups] == [(), (label,)]


def test_m48_what_the_shell_would_put_in_is_shown_as_written() -> None:
    written = ["${x:-rm}", "$IFS", "$(date)"]
    command = "echo " + " ".join(written)
    tokens = [Token(text="echo", span=(0, 4), unresolved=False)]
    for word in written:
        at = command.index(word)
        tokens.append(Token(text="…", span=(at, at + len(word)), unresolved=True))
    part = Part(
        name="echo",
        text=command,
        span=(0, len(command)),
        tokens=tuple(tokens),
        via=(),
    )
    (row,) = show_command(command, [part]).rows
    assert [get_shown_text(box) for box in row.arguments] == written
    assert all(box.unresolved for box in row.arguments)


def test_m48_a_resolved_word_shows_its_source_too() -> None:
    command = "rm $HOME/x 'plain' a\\ b"
    tokens = (
        Token(text="rm", span=(0, 2), unresolved=False),
        Token(text="~/x", span=(3, 10), unresolved=False),
        Token(text="plain", span=(11, 18), unresolved=False),
        Token(text="a b", span=(19, 23), unresolved=False),
    )
    part = Part(name="rm", text=command, span=(0, 23), tokens=tokens, via=())
    (row,) = show_command(command, [part]).rows
    assert [box.written for box in row.arguments] == ["$HOME/x", "", "a\\ b"]


def test_m49_a_newline_and_an_operator_inside_one_argument() -> None:
    command = "git commit -m 'one\ntwo && rm -rf /' ''"
    (row,) = show_command(command, split_command(command)).rows
    assert [get_shown_text(box) for box in row.arguments] == [
        "commit",
        "-m",
        "one⟨U+000A⟩two && rm -rf /",
        "",
    ]


def test_how_a_command_is_reached_is_told_and_only_it_is_flagged() -> None:
    command = 'sudo bash -c "rm -rf /srv/../etc"'
    mark = Mark(start=14, end=32, label="Removes files")
    rows = show_command(command, split_command(command), marks=[mark]).rows
    assert [(row.via, row.flagged) for row in rows] == [
        ("", ()),
        ("sudo", ()),
        ("sudo → bash -c", ("Removes files",)),
    ]
    assert rows[-1].arguments[-1].leads == "/etc"


def test_a_very_long_argument_says_what_is_left() -> None:
    command = "echo " + "a" * 5000
    (row,) = show_command(command, split_command(command)).rows
    assert row.arguments[0].left == 3000


def test_a_page_has_the_parts_that_begin_on_it() -> None:
    command = "true; false"
    parts = split_command(command)
    first = show_command(command, parts, page=(0, 6))
    second = show_command(command, parts, page=(6, 11))
    assert [get_shown_text(row.name) for row in (*first.rows, *second.rows)] == [
        "true",
        "false",
    ]
    assert len(first.rows) == len(second.rows) == 1
