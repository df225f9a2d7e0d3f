"""Whether a WHERE condition selects some rows, or holds for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.sql.tokens import NAME, NUMBER, STRING, WORD, SqlToken

_CONSTANTS = frozenset(("TRUE", "FALSE", "NULL", "NOT", "IS", "IN", "LIKE", "BETWEEN"))
_SAME = frozenset(("=", "==", "<=", ">=", "<=>", "LIKE", "IS"))
# Columns that every row has, with values above zero.
_KEYS = frozenset(("ID", "ROWID", "_ROWID_", "OID", "PK", "_ID"))
_DEPTH = 8


def picks_rows(tokens: Sequence[SqlToken]) -> bool | None:
    """True if it depends on the rows, None if that cannot be told."""
    if not tokens:
        return False
    if all(token.text.strip(UNKNOWN) == "" for token in tokens):
        return None
    return not _is_always(list(tokens), _DEPTH)


def _is_always(tokens: list[SqlToken], depth: int) -> bool:
    """True for every row."""
    tokens = _strip_parentheses(tokens)
    if not tokens or depth == 0:
        return True
    parts = _split(tokens, ("OR", "||"))
    if len(parts) > 1:
        return any(_is_always(part, depth - 1) for part in parts)
    parts = _split(tokens, ("AND", "&&"))
    if len(parts) > 1:
        return all(_is_always(part, depth - 1) for part in parts)
    if tokens[0].text == "NOT" and len(tokens) > 1:
        return _is_never(_strip_parentheses(tokens[1:]))
    return _is_true(tokens)


def _is_true(tokens: list[SqlToken]) -> bool:
    texts = [token.text for token in tokens]
    if len(tokens) == 3 and texts[1] in _SAME and texts[0] == texts[2]:
        return True
    if texts[0].upper() in _KEYS and tokens[0].kind in (WORD, NAME):
        rest = texts[1:]
        if rest in (["IS", "NOT", "NULL"], [">", "0"], [">=", "0"], [">", "-", "1"]):
            return True
        if rest in (["<>", "0"], ["!=", "0"], [">=", "1"]):
            return True
    if texts[0] == "EXISTS" and "FROM" not in texts:
        return True
    if len(tokens) == 3 and texts[1] == "LIKE" and texts[2] in ("%", "%%"):
        return True
    return _is_constant(tokens) and not _is_never(tokens)


def _is_never(tokens: list[SqlToken]) -> bool:
    """False for every row, as far as one can see at a glance."""
    texts = [token.text for token in tokens]
    if texts in (["FALSE"], ["0"], ["NULL"]):
        return True
    if len(tokens) == 3 and tokens[0].kind == tokens[2].kind == NUMBER:
        equal = texts[0] == texts[2]
        return (
            not equal if texts[1] in ("=", "==") else equal and texts[1] in ("<>", "!=")
        )
    return False


def _is_constant(tokens: list[SqlToken]) -> bool:
    """Nothing in it names a column."""
    return all(
        token.kind in (STRING, NUMBER)
        or (token.kind == WORD and token.text in _CONSTANTS)
        or (token.kind not in (WORD, NAME) and token.text not in ("?",))
        for token in tokens
    )


def _strip_parentheses(tokens: list[SqlToken]) -> list[SqlToken]:
    while len(tokens) > 2 and tokens[0].text == "(" and _closes_last(tokens):
        tokens = tokens[1:-1]
    return tokens


def _closes_last(tokens: list[SqlToken]) -> bool:
    depth = 0
    for index, token in enumerate(tokens):
        if token.text == "(":
            depth += 1
        elif token.text == ")":
            depth -= 1
            if depth == 0:
                return index == len(tokens) - 1
    return False


def _split(tokens: list[SqlToken], at: tuple[str, ...]) -> list[list[SqlToken]]:
    parts: list[list[SqlToken]] = [[]]
    depth = 0
    for token in tokens:
        if token.text == "(" and token.kind != STRING:
            depth += 1
        elif token.text == ")" and token.kind != STRING:
            depth -= 1
        if depth == 0 and token.text in at and token.kind != STRING:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
