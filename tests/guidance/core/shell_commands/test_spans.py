"""Every finding and every part says exactly where it stands in the command."""

from __future__ import annotations

from guidance.core.shell_commands import judge_command, judge_sql, split_command
from tests.guidance.core.shell_commands.corpus import CASES
from tests.support.rows import each_row


def places(command: str) -> list[str]:
    return [command[slice(*found.span)] for found in judge_command(command)]


def test_the_span_of_every_finding_slices_its_text() -> None:
    wrong = [
        (case.command, found)
        for case in CASES
        for found in judge_command(case.command)
        if case.command[slice(*found.span)] != found.text or not found.text
    ]
    assert wrong == []


def test_the_spans_of_every_part_lie_in_the_command() -> None:
    wrong = [
        (case.command, part)
        for case in CASES
        for part in split_command(case.command)
        if case.command[slice(*part.span)] != part.text
        or not all(
            0 <= token.span[0] <= token.span[1] <= len(case.command)
            for token in part.tokens
        )
    ]
    assert wrong == []


@each_row(
    ("command", "span"),
    [
        ("ls && rm -rf data", "rm -rf data"),
        ("ls; sudo rm -rf data # gone", "rm -rf data"),
        ("  rm -rf data  ", "rm -rf data"),
        ("A=1 B=2 rm -rf data", "rm -rf data"),
        ("rm 2>/dev/null -rf data", "rm 2>/dev/null -rf data"),
        ("echo $(rm -rf data)", "rm -rf data"),
        ("echo `rm -rf data`", "rm -rf data"),
        ("bash -c 'ls; rm -rf data'", "rm -rf data"),
        ('bash -c "ls; rm -rf data"', "rm -rf data"),
        ("ssh host 'cd /srv && rm -rf data'", "rm -rf data"),
        ("bash <<'EOF'\nls\nrm -rf data\nEOF", "rm -rf data"),
        ("if true; then rm -rf data; fi", "rm -rf data"),
        ("find . -name x -exec rm -rf {} +", "rm -rf {}"),
        ("ls | xargs rm -rf", "rm -rf"),
        ("psql -c 'SELECT 1; DROP TABLE users'", "DROP TABLE users"),
        ("psql <<EOF\nSELECT 1;\nTRUNCATE users;\nEOF", "TRUNCATE users"),
        ("echo x > /etc/fstab", "echo x > /etc/fstab"),
        ("ls\n> app.db", "> app.db"),
        ("café; rm -rf données", "rm -rf données"),
        ("printf '😀'; rm -rf 😀", "rm -rf 😀"),
    ],
)
def test_a_finding_marks_the_part_that_tripped(command: str, span: str) -> None:
    assert places(command) == [span]


def test_findings_come_in_the_order_of_the_text() -> None:
    command = "git stash drop; rm -rf a; dropdb b"
    assert places(command) == ["git stash drop", "rm -rf a", "dropdb b"]


def test_a_finding_tells_how_the_command_was_reached() -> None:
    [found] = judge_command("sudo ssh web 'rm -rf /srv'")
    assert found.message.endswith("(through sudo, ssh web)")


def test_sql_alone_has_spans_of_its_own() -> None:
    text = "SELECT 1;\n DELETE FROM users ;"
    [found] = judge_sql(text)
    assert text[slice(*found.span)] == "DELETE FROM users"


def test_parts_are_told_with_their_words() -> None:
    command = "A=1 sudo rm -rf 'my data' && ls | wc -l"
    parts = split_command(command)
    assert [(part.name, part.text) for part in parts] == [
        ("sudo", "sudo rm -rf 'my data'"),
        ("rm", "rm -rf 'my data'"),
        ("ls", "ls"),
        ("wc", "wc -l"),
    ]
    tokens = [(token.text, command[slice(*token.span)]) for token in parts[1].tokens]
    assert tokens == [("rm", "rm"), ("-rf", "-rf"), ("my data", "'my data'")]
    assert parts[1].via == ("sudo",)


def test_parts_inside_texts_stand_where_the_text_stands() -> None:
    command = 'bash -c "cd /srv; rm -rf data"'
    assert [part.text for part in split_command(command)] == [
        command,
        "cd /srv",
        "rm -rf data",
    ]


def test_a_part_that_two_shells_read_alike_is_told_once() -> None:
    names = [part.name for part in split_command("Remove-Item x -WhatIf; ls")]
    assert names == ["remove-item", "ls"]


def test_a_command_without_words_has_no_parts() -> None:
    assert split_command("") == ()
    assert split_command("# nothing") == ()
