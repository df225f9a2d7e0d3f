"""The sentences above a text and beside a path: what is counted, named, cut and left out."""

from __future__ import annotations

import pytest

from safetext import build_warnings, show_path, warnings
from safetext.deception.hosts import get_other_form
from safetext.paths import normalise
from tests.support.rows import each_row


def test_one_is_told_as_one_and_several_as_several() -> None:
    assert build_warnings("a\u200bb") == (
        "1 character has no width: U+200B ZERO WIDTH SPACE.",
    )
    (two,) = build_warnings("a\u200b\u200bb")
    assert two.startswith("2 characters have no width: U+200B")
    kinds = "\u200b\u200c\u200d\u2060\ufeff"
    (many,) = build_warnings(f"a{kinds}b")
    assert many.startswith("5 characters have no width")
    assert many.endswith(" and 2 more kinds.")
    (three,) = build_warnings(f"a{kinds[:3]}b")
    assert "more kinds" not in three


def test_hidden_ascii_is_spelt_out() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "rm ~")
    assert build_warnings(f"ok{hidden}") == (
        "4 invisible tag characters spelling “rm ~”.",
    )
    assert build_warnings("ok\U000e0001") == ("1 invisible tag character.",)
    both = build_warnings(f"\u200b{hidden}")
    assert [each.partition(":")[0][:12] for each in both] == [
        "1 character ",
        "4 invisible ",
    ]


def test_the_words_that_deceive_are_named_up_to_three_and_counted() -> None:
    words = [f"p\u0430y{n}.com" for n in "abcde"]
    said = build_warnings(" ".join(words))
    assert sum("look-alike letter in" in each for each in said) == 3
    assert sum(each.startswith("The host") for each in said) == 3
    assert said[-1] == "4 more words deceive in such ways; each one is underlined."
    assert "more words" not in " ".join(build_warnings(" ".join(words[:3])))
    (twice, _) = build_warnings("p\u0430yp\u0430l.com")
    assert twice.startswith("2 look-alike letters in “p\u0430yp\u0430l.com”: U+0430")
    assert twice.count("U+0430") == 1, "a letter is explained once"
    long = build_warnings("p\u0430y" + "x" * 200)[0]
    assert "x…”" in long
    assert len(long) < 200
    sixty = "p\u0430y" + "x" * 57
    assert f"“{sixty}”" in build_warnings(sixty)[0]


def test_of_a_long_text_the_beginning_is_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warnings, "_LOOKED", 20)
    late = "plain text " * 2 + "p\u0430ypal"
    assert build_warnings(late) == (
        "Look-alikes are counted in the first 20 characters only; further "
        "on they are underlined as well.",
    )
    assert build_warnings("plain text " * 9) == ()
    assert len(build_warnings("p\u0430ypal and so")) == 1


@each_row(
    ("host", "other"),
    [
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "bücher.example"),
        ("a.XN--BCHER-KVA.example", "a.BüCHER.example"),
        ("plain.example", ""),
        ("bücher", ""),
        ("bücher.t", ""),
        ("bücher.4x", ""),
        ("ü." + "a" * 260 + ".com", ""),
        ("ü" * 64 + ".com", ""),
    ],
)
def test_a_host_has_another_form_only_where_it_is_one(host: str, other: str) -> None:
    assert get_other_form(host) == other


@each_row(
    ("path", "normal"),
    [
        ("a/./b//c/../d", "a/b/d"),
        ("~/../x", "~/../x"),
        ("~/a/../b", "~/b"),
        ("~", "~"),
        ("C:\\a\\..\\b", "C:/b"),
        ("\\\\host\\share\\..\\x", "//host/x"),
        ("a\\..\\b", "a\\..\\b"),
        ("", ""),
    ],
)
def test_where_a_path_leads(path: str, normal: str) -> None:
    assert normalise(path) == normal


@each_row(
    ("path", "words"),
    [
        ("a/../b", "goes up (..) and leads to b."),
        ("../b", "leaves the folder it starts in."),
        ("~/../b", "leaves the folder it starts in."),
        ("/etc", "is absolute."),
        ("\\\\host\\x", "is absolute."),
        ("c:\\x", "is absolute."),
        ("~root/x", "starts in a home folder (~)."),
        ("a/ b", "begins or ends with a space."),
        ("a /b", "begins or ends with a space."),
        ("a./b", "ends with a dot, which Windows drops."),
        ("x" * 256, "very long: 256 characters."),
        ("x/" * 513, "very long: 1,026 characters."),
        ("é", "composed (NFC)."),
    ],
)
def test_what_is_odd_about_a_path_is_said(path: str, words: str) -> None:
    assert any(said.endswith(words) for said in show_path(path).warnings), path


@each_row(
    "path",
    ["a/b.txt", ".hidden/x", "a..b/c", "...", "x" * 255, "x/" * 512, "a~b", ":e"],
)
def test_an_ordinary_path_is_said_nothing_of(path: str) -> None:
    assert show_path(path).warnings == ()
