"""Tokens that tell by their own form what they are, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.effort import Effort
from guidance.core.regex import BytePattern, compile_byte_pattern
from guidance.core.secrets.defaults import is_documented
from guidance.core.secrets.formats import RULES
from guidance.core.secrets.formats.rule import TokenRule
from guidance.core.secrets.hits import Hit
from guidance.core.secrets.placeholders import is_filler

# A token begins after a character that no token holds, or after a written escape. That
# keeps words like "task-…" out, and two counts never run at once in the automaton.
_BEFORE = r"(?:^|[^A-Za-z0-9_-]|\\[nrt]|%[0-9A-Fa-f]{2})"
# What a look at one place costs, see `effort`.
_PRICE = 35
# No algorithm for tokens makes less: 256 bits are 43 characters.
_SHORTEST_SIGNATURE = 32
_CONTROL = str.maketrans({char: "\\" + char for char in ".$+"})


def _list_starts(rule: TokenRule) -> str:
    if not rule.starts:
        return ""
    return "(?:" + "|".join(start.translate(_CONTROL) for start in rule.starts) + ")"


def _build_index() -> dict[bytes, list[tuple[TokenRule, BytePattern]]]:
    """By the first two characters; rules without a start are under the empty one."""
    table: dict[bytes, list[tuple[TokenRule, BytePattern]]] = {}
    for rule in RULES:
        whole = compile_byte_pattern(_list_starts(rule) + rule.rest)
        for head in sorted({start[:2] for start in rule.starts} or {""}):
            table.setdefault(head.encode(), []).append((rule, whole))
    return table


_BY_HEAD = _build_index()
_LOOSE = _BY_HEAD[b""]
_ANY_LOOSE = compile_byte_pattern("|".join(rule.rest for rule, _ in _LOOSE))
# A telling start and a few more characters, and where a start could be a word to
# somebody else ("pattern", "api-…"), the form of the whole. One small automaton and one
# large one: what a match costs grows with the size.
_TELLING = "|".join(_list_starts(rule) for rule in RULES if rule.telling)
_LIKELY = compile_byte_pattern(f"{_BEFORE}(?:{_TELLING})[A-Za-z0-9_.+/=%-]{{10}}")
EXACT = compile_byte_pattern(
    f"{_BEFORE}(?:"
    + "|".join(_list_starts(rule) + rule.first for rule in RULES if not rule.telling)
    + ")"
)
# A known start, some of its token, and then the end of a line or of a quoted part.
JOINT = r"(?:\\?\r?\n[ \t]*|\\[nr]|[\"'`][ \t]*[+.&\\]?[ \t]*\r?\n?[ \t]*[+.&]?[ \t]*[\"'`])"
_CUT = compile_byte_pattern(
    f"{_BEFORE}(?:{_TELLING})[A-Za-z0-9_-]*{JOINT}[A-Za-z0-9_-]"
)
# Without it there is neither a likely token nor one that was cut.
START = compile_byte_pattern(f"{_BEFORE}(?:{_TELLING})")


def scan_tokens(data: bytes, effort: Effort) -> Iterator[Hit]:
    """Every token of a known format in the text, one byte per character."""
    for pattern in (_LIKELY, EXACT):
        position = 0
        while place := pattern.search(data, position):
            effort.spend(_PRICE)
            hit = _find_token_near(data, place.start)
            if hit is None:
                position = place.start + 1
            else:
                yield hit
                position = hit.end


def find_cut_starts(data: bytes, effort: Effort) -> Iterator[int]:
    """Where a token may begin whose end stands in the next line or string."""
    for place in _CUT.finditer(data):
        effort.spend(_PRICE)
        for start in _find_starts_near(data, place.start):
            if _get_rules_at(data, start):
                yield start


def find_token_at(data: bytes, start: int) -> Hit | None:
    """The token that begins exactly here."""
    rules = _get_rules_at(data, start)
    if _ANY_LOOSE.match(data, start):
        rules = rules + _LOOSE
    best: Hit | None = None
    for rule, whole in rules:
        place = whole.match(data, start)
        hit = place and _accept(data, rule, start, place.end)
        # The longest public start knows best: sk-ant-… is no sk-… of somebody else.
        if hit is not None and (best is None or hit.core > best.core):
            best = hit
    return best


def _find_token_near(data: bytes, place: int) -> Hit | None:
    hits = (find_token_at(data, start) for start in _find_starts_near(data, place))
    return next(filter(None, hits), None)


def _find_starts_near(data: bytes, place: int) -> tuple[int, ...]:
    """Where a token may begin if a match with what stands before it begins here."""
    before = data[place : place + 1]
    if before.isalnum():
        return (place,)
    if before == b"\\":
        return (place + 1, place + 2)
    if before == b"%":
        return (place + 1, place + 3)
    return (place + 1,) if place else (place, place + 1)


def _get_rules_at(data: bytes, start: int) -> list[tuple[TokenRule, BytePattern]]:
    return _BY_HEAD.get(data[start : start + 2], []) if start + 1 < len(data) else []


def _accept(data: bytes, rule: TokenRule, start: int, end: int) -> Hit | None:
    text = data[start:end].decode("latin-1")
    public = max(
        (len(head) for head in rule.starts if text.startswith(head)), default=0
    )
    rest = text[public:]
    if len(rest) < rule.least or (rule.most is not None and len(rest) > rule.most):
        return None
    if data[end : end + 1].isalnum() or is_filler(rest):
        return None
    if is_documented(text) or (rule.kind == "jwt" and not _is_jwt(text)):
        return None
    return Hit(start, end, rule.kind, start + public)


def _is_jwt(text: str) -> bool:
    """Signed: two JSON parts and a signature. Encrypted: five parts."""
    parts = text.rstrip(".").split(".")
    if len(parts) == 3 and len(parts[2]) < _SHORTEST_SIGNATURE:
        # A sample: "signature" is no signature.
        return False
    return parts[1].startswith("eyJ") if len(parts) <= 3 else len(parts) == 5
