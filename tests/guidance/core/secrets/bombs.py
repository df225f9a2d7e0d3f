"""Texts of 256 KiB made to be slow for somebody's patterns."""

from __future__ import annotations

from guidance.core.secrets.formats import RULES
from tests.guidance.core.secrets.samples import HEX, WORD, body

SIZE = 262_144


def filled(part: str) -> str:
    return (part * (SIZE // len(part) + 1))[:SIZE]


_STARTS = [start for rule in RULES for start in rule.starts]

BOMBS: dict[str, str] = {
    "letters": body(SIZE, WORD),
    "hex": body(SIZE, HEX),
    "mixture": body(SIZE, WORD + ' \n_-="'),
    "starts": filled("".join(f" {start}{body(12)}" for start in _STARTS)),
    "starts-joined": filled("".join(_STARTS)),
    "placeholders": filled(" s" + "k-aaaaaaaaaaaaaaaaaaaaaaaa"),
    "tokens": filled("".join(" gh" + "p_" + body(36, seed=n) for n in range(200))),
    "jwt-parts": filled("eyJaaaaaaaaaaaaa."),
    "jwt-like": filled(" eyJaaaaaaaaaaaaa.b.c"),
    "names": filled("password="),
    "names-filler": filled("password=xxxx "),
    "names-quotes": filled('password="'),
    "names-lines": filled('password="\n'),
    "names-stars": filled("password=*"),
    "names-typed": filled("password: a "),
    "passwords": filled("password=hun" + "ter2\n"),
    "json": filled('{"a":"b","c":1,"token":"abc"},'),
    "addresses": filled("a://b:c@"),
    "address-open": "a://b:" + "@" * (SIZE - 6),
    "schemes": filled("a://b:"),
    "bearers": filled("bearer xxxxxxxxxxxxxxxxx "),
    "blocks": filled("-----BEGIN PRIVATE " + "KEY-----"),
    "block-starts": filled("-----BEGIN "),
    "base64": filled("cGFzc3dvcmQ9aHVudGVyMg"),
    "unseen": filled("g\u200bh"),
    "nul": filled("a\0"),
    "lines": "\n" * SIZE,
    "cuts": filled(" gh" + "p_ab\n"),
    "commands": filled("mysql "),
    "commands-flags": filled("mysql -pxxxx "),
    "echo": "echo a|" + "b" * SIZE,
    "flags": filled(" --a-b-c"),
    "quotes": '"' * SIZE,
    "backslashes": "\\" * SIZE,
    "letters-of-others": filled("пароль=é "),
}
