"""How the format of a public kind of token is written down."""

from __future__ import annotations

from dataclasses import dataclass

WORD = "A-Za-z0-9"
SAFE = r"A-Za-z0-9_\-"
HEX = "0-9a-f"
ANYHEX = "0-9A-Fa-f"
LOWER = "a-z0-9"
UPPER = "A-Z0-9"
BASE64 = "A-Za-z0-9+/"
UUID = f"[{HEX}]{{8}}-[{HEX}]{{4}}-[{HEX}]{{4}}-[{HEX}]{{4}}-[{HEX}]{{12}}"

# So many characters are counted by the pattern itself, the rest afterwards: a long
# count is a large program, and this many are enough to leave ordinary words alone.
COUNTED = 20
# Starts that ordinary names have in bulk: napi_create_function, npm_config_cache.
_IN_USE = frozenset({"napi_", "npm_", "pypi-", "key-", "secret_", "dose", "rnd_"})


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRule:
    """`starts` are public; `rest` is the pattern of what follows one of them.

    `least` and `most` bound the length of what follows. A rule without `starts` has
    its whole form in `rest`. `first` is as much of it as tells that a token begins.
    `telling` starts are hardly ever the start of anything else.
    """

    kind: str
    starts: tuple[str, ...]
    rest: str
    first: str
    least: int = 0
    most: int | None = None
    telling: bool = False


def run(
    kind: str,
    *starts: str,
    least: int,
    most: int | None = None,
    of: str = WORD,
) -> TokenRule:
    """A start and then one unbroken run of characters."""
    first = f"[{of}]{{{min(least, COUNTED)}}}"
    return TokenRule(
        kind=kind,
        starts=starts,
        rest=f"{first}[{of}]*",
        first=first,
        least=least,
        most=most,
        telling=min(map(len, starts)) > 3 and _IN_USE.isdisjoint(starts),
    )


def build_exact_rule(kind: str, *starts: str, length: int, of: str = WORD) -> TokenRule:
    return run(kind, *starts, least=length, most=length, of=of)


def build_shape_rule(
    kind: str, *starts: str, rest: str, telling: bool = False
) -> TokenRule:
    """A start and then several parts."""
    return TokenRule(kind=kind, starts=starts, rest=rest, first=rest, telling=telling)
