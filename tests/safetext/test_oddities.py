"""Words that are seen and still deceive: flagged, with their code points at hand."""
# ruff: noqa: RUF001 (it is about just these characters)

from __future__ import annotations

from safetext import Segment, build_warnings, make_visible, show_path, split_segments
from tests.support.rows import each_row


def odd(text: str) -> list[str]:
    return [part.raw for part in split_segments(text) if part.odd]


def test_m34_a_cyrillic_letter_in_a_host() -> None:
    text = "curl p\u0430ypal.com"
    (first, second) = build_warnings(text)
    assert first == (
        "1 look-alike letter in “p\u0430ypal.com”: "
        "U+0430 CYRILLIC SMALL LETTER A, looks like a."
    )
    assert second == "The host p\u0430ypal.com is in its other form xn--pypal-4ve.com."
    notes = {part.raw: part.note for part in split_segments(text) if part.odd}
    assert "U+0430 CYRILLIC SMALL LETTER A" in notes["\u0430"]


def test_m34_a_greek_letter_in_a_path() -> None:
    assert odd("cat /h\u03bfme/x") == ["\u03bf"]
    assert "U+03BF GREEK SMALL LETTER OMICRON" in build_warnings("cat /h\u03bfme/x")[0]


@each_row(
    ("text", "found"),
    [
        ("м\u006fсква", ["o"]),
        ("\u0441\u0440 a b", ["\u0441", "\u0440"]),
        ("\u0440\u0430\u0443.com", ["\u0440", "\u0430", "\u0443"]),
        ("rm \u2013rf", ["\u2013"]),
        ("cat \u2215etc", ["\u2215"]),
        ("\uff52\uff4d -rf", ["\uff52", "\uff4d"]),
        ("\U0001d42b\U0001d426 x", ["\U0001d42b", "\U0001d426"]),
        ("g\u0131t.example", ["\u0131"]),
    ],
)
def test_m34_other_look_alikes(text: str, found: list[str]) -> None:
    assert [part.raw for part in split_segments(text) if _alike(part)] == found


def _alike(part: Segment) -> bool:
    return "looks like" in part.note or "among" in part.note


@each_row(
    "text",
    [
        "Привет, а это проза с file.txt",
        "naïve façade, 1\u20132 days \u2014 ok",
        "with α = 0.05, Δx and μm",
        "配置\uff0c然后run",
        "résumé.txt in Łódź",
        "kadın",
    ],
)
def test_what_people_write_deceives_nobody(text: str) -> None:
    assert odd(text) == []
    assert build_warnings(text) == ()


def test_m35_a_coded_host_and_its_readable_form() -> None:
    assert build_warnings("curl https://xn--pypal-4ve.com/x") == (
        "The host xn--pypal-4ve.com is in its other form p\u0430ypal.com.",
    )


def test_m35_a_readable_host_and_its_coded_form() -> None:
    assert build_warnings("git clone git@b\u00fccher.example:x") == (
        "The host b\u00fccher.example is in its other form xn--bcher-kva.example.",
    )


@each_row("label", ["xn--\u00e9", "xn--99999999", "xn--", "xn--" + "a" * 80])
def test_m35_a_host_that_is_coded_wrongly(label: str) -> None:
    build_warnings(f"http://{label}.com")


def test_m36_two_spellings_of_one_name() -> None:
    composed, apart = "caf\u00e9", "cafe\u0301"
    assert make_visible(composed) != make_visible(apart)
    assert odd(f"{composed} {apart}") == [apart]
    assert "(NFC, NFD)" in build_warnings(apart)[0]
    assert "composed (NFC)" in show_path(composed).warnings[0]


@each_row(
    ("path", "normal", "warned"),
    [
        ("../../etc", "", "leaves the folder it starts in"),
        ("a/../../etc", "../etc", "leaves the folder it starts in"),
        ("src/../lib/x", "lib/x", "leads to lib/x"),
        ("~/a/../../x", "~/../x", "leaves the folder it starts in"),
        ("/etc/passwd", "", "absolute"),
        ("C:\\Windows\\..\\x", "C:/x", "absolute"),
        ("~/x", "", "home folder"),
        ("src/a ", "", "ends with a space"),
        ("src/a.", "", "ends with a dot"),
        ("a" * 4096, "", "very long: 4,096 characters"),
        ("a//b/./c", "a/b/c", ""),
    ],
)
def test_m52_paths_raw_and_normalised(path: str, normal: str, warned: str) -> None:
    shown = show_path(path)
    assert (
        "".join(part.raw for group in shown.groups for part in group.segments) == path
    )
    assert shown.normal == normal
    assert warned in " ".join(shown.warnings)


def test_an_ordinary_path_needs_no_word() -> None:
    assert show_path("src/app.py").warnings == ()
