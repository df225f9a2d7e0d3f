"""Letters and signs that look like those of ASCII, by what they look like."""
# ruff: noqa: RUF001 (it is about just these characters)

from __future__ import annotations

import unicodedata
from functools import lru_cache

# Scripts whose letters pass for Latin ones. Greek is apart: its other letters stand
# beside Latin ones in formulas and units, and nobody takes Δ for anything else.
STRANGERS = frozenset({"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LISU"})

_LETTERS = {
    "CYRILLIC": (
        "авеёзкмнорстухѕіїјԁѵԛԝһӏьԍүАВЕЁЗКМНОРСТУХЅІЇЈԌԚԜҺӀҮѴ",
        "abeë3kmhopctyxsiïjdvqwhlbgyABEË3KMHOPCTYXSIÏJGQWHIYV",
    ),
    "GREEK": (
        "αβγεηικνορτυχωϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ",
        "aByenikvoptuxwcjABEZHIKMNOPTYXCJ",
    ),
    "ARMENIAN": ("օոսհցզյաքԼՏՍՕ", "onuhgqjwpLSUO"),
    "CHEROKEE": ("ᎪᏴᏟᎠᎬᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ", "ABCDEHiJKLMPRSTVWZ"),
    "COPTIC": ("ⲟⲣⲥⲭⲞⲢⲤⲬ", "opcxOPCX"),
    "LISU": ("ꓐꓑꓓꓔꓖꓙꓚꓜꓝꓞꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGJCZFFNLSRVHWXYAEIOU"),
}
LETTERS = {
    letter: like
    for letters, alike in _LETTERS.values()
    for letter, like in zip(letters, alike, strict=True)
}
# Latin letters beyond ASCII: common in words of some languages, odd in a name.
NAMES = dict(zip("ıɑɡɩɪʟ", "iagiiL", strict=True))
SIGNS = {
    **dict.fromkeys("∕⁄⧸╱", "/"),
    **dict.fromkeys("․。｡", "."),
    **dict.fromkeys("꞉∶ː˸", ":"),
    **dict.fromkeys("∣ǀ❘", "|"),
    **dict.fromkeys("ǃ", "!"),
    **dict.fromkeys("‚", ","),
    **dict.fromkeys("∗⁎", "*"),
    **dict.fromkeys("⧵⧹∖", "\\"),
}
DASHES = frozenset("‐‑‒–—―−﹣")


@lru_cache(maxsize=4096)
def get_script(character: str) -> str:
    """The script of a letter, as its name begins with it; empty for other characters."""
    if not character.isalpha():
        return ""
    return unicodedata.name(character, "").split(" ", 1)[0]


@lru_cache(maxsize=4096)
def get_plain_form(character: str) -> str:
    """The ASCII character that a full-width or mathematical one stands for, if any."""
    if not unicodedata.decomposition(character).startswith(("<wide>", "<font>")):
        return ""
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() else ""


@lru_cache(maxsize=4096)
def is_suspect(character: str) -> bool:
    """Worth a look at the word it stands in."""
    return not character.isascii() and (
        character in SIGNS
        or character in DASHES
        or character in NAMES
        or get_script(character) in STRANGERS
        or bool(get_plain_form(character))
    )
