"""Which letters and signs are taken for others, where, and where they are at home."""
# ruff: noqa: RUF001 (it is about just these characters)

from __future__ import annotations

from safetext import build_warnings
from safetext.deception.words import Odd, find_oddities
from tests.support.rows import each_row


def find(text: str) -> list[tuple[str, str]]:
    """The look-alikes of a text, in the order they are told, with what is said of them."""
    return [
        (text[each.start : each.end], each.note.rpartition(", ")[2])
        for each in find_oddities(text)
        if each.kind == Odd.LOOK_ALIKE
    ]


def characters(text: str) -> str:
    return "".join(character for character, _ in find(text))


@each_row(
    ("letters", "plain"),
    [
        ("аеорсухіјѕ", "aeopcyxijs"),
        ("АВЕКМНОРСТХ", "ABEKMHOPCTX"),
        ("ԁѵԛԝһӏьү", "dvqwhlby"),
        ("αονρτυικ", "aovptuik"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),
        ("օոսհցզ", "onuhgq"),
        ("ᎪᏟᎬᎻᏦᏞᎷᏢᎢ", "ACEHKLMPT"),
        ("ⲟⲣⲥⲭ", "opcx"),
        ("ꓐꓑꓓꓔꓖꓙꓚ", "BPDTGJC"),
    ],
)
def test_letters_of_other_scripts_are_told_with_what_they_look_like(
    letters: str, plain: str
) -> None:
    for letter, like in zip(letters, plain, strict=True):
        assert find(f"xy{letter}zw.com") == [(letter, f"looks like {like}")]


@each_row(
    ("signs", "plain"),
    [
        ("∕⁄⧸╱", "/"),
        ("․。｡", "."),
        ("꞉∶ː˸", ":"),
        ("∣ǀ❘", "|"),
        ("ǃ", "!"),
        ("‚", ","),
        ("∗⁎", "*"),
        ("⧵⧹∖", "\\"),
    ],
)
def test_signs_are_told_beside_plain_characters_alone(signs: str, plain: str) -> None:
    for sign in signs:
        assert (sign, f"looks like {plain}") in find(f"cat x{sign}etc")
        assert (sign, f"looks like {plain}") in find(f"a.b{sign}c"), "in a name as well"
        assert find(f"ä{sign}ö") == []
        assert find(f"a {sign} b") == []


@each_row(
    ("text", "found"),
    [
        ("rm –rf", "–"),
        ("rm −rf", "−"),
        ("git ——force", "—"),
        ("git –-force", "–"),
        ("host.name‑x", "‑"),
        ("a – b", ""),
        ("yes–no", ""),
        ("x.1–2", ""),
        ("x.a–2", ""),
        ("x.2–a", ""),
        ("–1", ""),
    ],
)
def test_a_dash_is_one_where_an_option_or_a_name_would_have_a_hyphen(
    text: str, found: str
) -> None:
    assert characters(text) == found


@each_row(
    ("text", "found"),
    [
        # In one name with Latin letters, whatever else the text is written in.
        ("Привет, сор.com", "сор"),
        ("сор.com", "сор"),
        # Alone, where nothing else is written in that script.
        ("rm сор", "сор"),
        ("rm а", "а"),
        ("rm αο", "αο"),
        ("Привет, сор и", ""),
        ("сор", ""),
        # A Greek letter alone names a number.
        ("with α = 0.05", ""),
        # What has a letter that deceives nobody is a word of its own.
        ("привет.com", ""),
        ("Привет.txt", ""),
    ],
)
def test_a_whole_word_of_look_alikes(text: str, found: str) -> None:
    assert characters(text) == found


def test_look_alikes_of_two_scripts_deceive_no_less() -> None:
    """Cyrillic er and a, Greek omicron: no letter of it is Latin."""
    name = "ра\u03bf.com"
    assert characters(f"curl {name}") == "ра\u03bf"
    assert any("look-alike" in each for each in build_warnings(f"curl {name}"))
    assert characters("rm ра\u03bf") == "ра\u03bf"


@each_row(
    ("text", "found"),
    [
        ("paуpal", [("у", "looks like y")]),
        ("мoсква", [("o", "among Cyrillic letters")]),
        ("паролиx", [("x", "among Cyrillic letters")]),
        ("runиx", [("и", "among Latin letters")]),
        # Greek beside Latin letters is a formula.
        ("Δx", []),
        ("ΔΣx", []),
        ("xyΔ", []),
        # Letters of a script that nobody takes for Latin.
        ("pаypalא", [("а", "looks like a")]),
        ("配置文a–b", []),
    ],
)
def test_letters_that_do_not_belong_to_their_word(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert find(text) == found


@each_row(
    ("text", "found"),
    [
        ("配置ｒｍ", "ｒｍ"),
        ("配置。ok", ""),
        ("x∕etc、", "∕"),
        ("ｒｍ", "ｒｍ"),
        ("𝐫𝐦", "𝐫𝐦"),
        ("gıt.example", "ı"),
        ("ɡit.example", "ɡ"),
        ("kadın", ""),
    ],
)
def test_wide_and_drawn_characters(text: str, found: str) -> None:
    assert characters(text) == found


def test_they_are_told_in_their_order_and_at_their_place() -> None:
    text = "ls; cat x∕pаypal.com"
    found = [each for each in find_oddities(text) if each.kind == Odd.LOOK_ALIKE]
    assert [text[each.start] for each in found] == ["∕", "а"]
    assert [each.start for each in found] == sorted(each.start for each in found)
    assert {each.word for each in found} == {"x∕pаypal.com"}


def test_a_coded_host_is_found_in_any_case_and_on_its_line_alone() -> None:
    def hosts(text: str) -> list[str]:
        return [each.word for each in find_oddities(text) if each.kind == Odd.HOST]

    assert hosts("curl https://XN--PYPAL-4VE.COM/x") == ["XN--PYPAL-4VE.COM"]
    assert hosts("ls\ncurl xn--pypal-4ve.com\nls") == ["xn--pypal-4ve.com"]
    assert hosts("bücher.txt") == [], "a file's name has a dot as well"
    assert hosts("https://bücher.example/a") == ["bücher.example"]
    assert hosts("git@bücher.example:x") == ["bücher.example"]


def test_another_spelling_is_told_by_its_first_code_points() -> None:
    def spelt(text: str) -> list[str]:
        return [each.note for each in find_oddities(text) if each.kind == Odd.SPELLING]

    accent = "U+0301 COMBINING ACUTE ACCENT"
    begun = "not in composed form (NFC): "
    assert spelt("cafe\u0301") == [begun + accent]
    assert spelt("e\u0301" * 4) == [begun + ", ".join([accent] * 4)]
    assert spelt("e\u0301" * 6) == [begun + ", ".join([accent] * 4) + " and 2 more"]
    assert characters("x.é–a") == "", "a dash between other letters is a dash"
