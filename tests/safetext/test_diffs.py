"""Diffs are read by their structure, and what is no text is named."""

from __future__ import annotations

from safetext import show_diff, split_pages
from safetext.diffs.parse import Row
from safetext.diffs.rows import DiffRow
from tests.guidance.core.edits.builders import whole_diff
from tests.support.rows import each_row


def make_diff(old: str, new: str, name: str = "app.py") -> str:
    return whole_diff(old, new, name=name)


def get_raw_text(row: DiffRow) -> str:
    return "".join(part.raw for group in row.groups for part in group.segments)


def words(row: DiffRow, name: str) -> list[str]:
    return [
        part.raw
        for group in row.groups
        for part in group.segments
        if name in part.classes.split()
    ]


@each_row(
    ("headers", "note"),
    [
        ("Binary files a/x and b/x differ", "A binary file changes"),
        ("GIT binary patch\nliteral 3\nKcmZ=", "cannot be inspected"),
        ("new file mode 120000\nindex 0..1", "a symbolic link"),
        ("index 1234567..89abcde 160000", "a submodule"),
        ("old mode 100644\nnew mode 100755", "it can be run from then on"),
        ("old mode 100755\nnew mode 100644", "changes from 100755 to 100644."),
        ("deleted file mode 100644", "The file is deleted"),
        ("rename from x\nrename to y", "renamed from x to y"),
    ],
)
def test_m50_what_is_no_text_is_named(headers: str, note: str) -> None:
    shown = show_diff(f"diff --git a/x b/x\n{headers}\n")
    (file,) = shown.files
    assert note in " ".join(file.notes)
    assert "".join(row.raw for row in file.rows).startswith("diff --git a/x b/x\n")


def test_m51_headers_inside_content_are_content() -> None:
    old = "a\nb\nc\n"
    new = "a\n++ b/safe.py\n@@ -1,1 +1,1 @@\n-- a/safe.py\ndiff --git a/x b/x\nb\nc\n"
    (file,) = show_diff(make_diff(old, new)).files
    assert [get_raw_text(row) for row in file.rows if row.kind is Row.ADDED] == [
        "++ b/safe.py",
        "@@ -1,1 +1,1 @@",
        "-- a/safe.py",
        "diff --git a/x b/x",
    ]
    assert (file.added, file.removed) == (4, 0)
    numbers = [(row.old, row.new) for row in file.rows if row.numbered]
    assert numbers == [
        (1, 1),
        (None, 2),
        (None, 3),
        (None, 4),
        (None, 5),
        (2, 6),
        (3, 7),
    ]


def test_m51_removed_lines_that_look_like_headers() -> None:
    (file,) = show_diff(make_diff("-- drop\nkeep\n", "keep\n", "x.sql")).files
    assert [(row.kind, get_raw_text(row)) for row in file.rows if row.numbered] == [
        (Row.REMOVED, "-- drop"),
        (Row.CONTEXT, "keep"),
    ]


def test_m51_a_hunk_that_promises_less_than_it_holds() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n+hidden\n"
    (file,) = show_diff(diff).files
    assert file.rows[-1].kind is Row.OTHER
    assert get_raw_text(file.rows[-1]) == "+hidden"
    assert "1 line stands outside of what the diff says it changes." in file.notes


def test_a_hunk_that_promises_more_ends_where_it_breaks() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+d"
    shown = show_diff(diff)
    assert "".join(row.raw for file in shown.files for row in file.rows) == diff


def test_changed_words_of_paired_lines() -> None:
    (file,) = show_diff(
        make_diff("total = round(x, 2)\n", "total = round(y, 2)\n")
    ).files
    _, _, _, removed, added = file.rows
    assert (words(removed, "changed"), words(added, "changed")) == (["x"], ["y"])


def test_lines_with_little_in_common_are_other_lines() -> None:
    (file,) = show_diff(make_diff("alpha beta gamma\n", "one two three\n")).files
    assert not any(words(row, "changed") for row in file.rows)


def test_colours_go_by_the_name_of_the_file() -> None:
    diff = make_diff("x = 1\n", 'def f():\n    return "a"\n', "app.py")
    (file,) = show_diff(diff).files
    assert words(file.rows[-2], "hl-keyword") == ["def"]
    assert words(file.rows[-1], "hl-string") == ['"a"']
    (plain,) = show_diff(make_diff("x = 1\n", "def f(): pass\n", "notes.unknown")).files
    assert not any(words(row, "hl-keyword") for row in plain.rows)


def test_changed_line_ends_are_told() -> None:
    (file,) = show_diff(make_diff("a\nb\n", "a\r\nb\r\n")).files
    assert "2 lines change their ending from LF to CRLF and nothing else." in file.notes
    (back,) = show_diff(make_diff("a\r\n", "a\n")).files
    assert "1 line changes its ending from CRLF to LF and nothing else." in back.notes
    (kept,) = show_diff(make_diff("a\r\nb\r\n", "a\r\nc\r\n")).files
    assert "All lines shown end with CRLF." in kept.notes
    assert [get_raw_text(row) for row in kept.rows if row.numbered] == ["a", "b", "c"]


@each_row(
    ("old", "new", "note"),
    [
        ("a", "a\n", "The old text has no newline at its end; the new one has."),
        ("a\n", "a", "The new text has no newline at its end."),
        ("a\nb", "c\nb", "The text has no newline at its end."),
        ("a", "b", "The text has no newline at its end."),
    ],
)
def test_a_missing_last_newline_is_told(old: str, new: str, note: str) -> None:
    (file,) = show_diff(make_diff(old, new)).files
    assert note in file.notes


def test_lines_left_out_between_hunks_are_counted() -> None:
    old = "".join(f"{number}\n" for number in range(1, 101))
    new = old.replace("50\n", "fifty\n").replace("90\n", "ninety\n")
    (file,) = show_diff(make_diff(old, new)).files
    assert [row.skipped for row in file.rows if row.kind is Row.HUNK] == [46, 33]


def test_what_is_no_diff_is_shown_as_it_stands() -> None:
    shown = show_diff("just\nwords")
    assert shown.warnings == ("This is no unified diff; it is shown as it stands.",)
    assert "".join(row.raw for row in shown.files[0].rows) == "just\nwords"
    assert show_diff("").warnings == ()


def test_a_long_diff_comes_in_pages_that_join_to_the_whole() -> None:
    old = "".join(f"line {number} {'x' * 30}\n" for number in range(1000))
    diff = make_diff(old, old.replace("x", "y")) + " "
    shown = [show_diff(diff, page=page) for page in split_pages(diff)]
    assert len(shown) > 4
    rows = [row for part in shown for file in part.files for row in file.rows]
    assert "".join(row.raw for row in rows) == diff
    assert all(part.added == 1000 for part in shown)


def test_two_files_of_one_diff_are_told_apart() -> None:
    diff = make_diff("a\n", "b\n", "one.py") + make_diff("c\n", "d\n", "two.py")
    names = [
        "".join(part.raw for group in file.name for part in group.segments)
        for file in show_diff(diff).files
    ]
    assert names == ["one.py", "two.py"]
