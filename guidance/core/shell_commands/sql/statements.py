"""Judge SQL statement by statement: what each would delete or overwrite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from guidance.core.shell_commands.limits import ReadingBudget
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.sql.conditions import picks_rows
from guidance.core.shell_commands.sql.risky_words import find_risky_words
from guidance.core.shell_commands.sql.tokens import (
    BODY,
    BROKEN,
    NAME,
    SIGN,
    STRING,
    WORD,
    SqlToken,
    split_statements,
)
from guidance.core.shell_commands.word_lists import split_names

_KINDS = split_names(
    "TABLE DATABASE SCHEMA VIEW INDEX USER ROLE SEQUENCE FUNCTION PROCEDURE TRIGGER TYPE "
    "DOMAIN EXTENSION OWNED TABLESPACE KEYSPACE COLLECTION MATERIALIZED FOREIGN EVENT "
    "SERVER POLICY RULE AGGREGATE CAST COLLATION CONVERSION OPERATOR PUBLICATION LOGIN "
    "SUBSCRIPTION LANGUAGE STATISTICS TRANSFORM GROUP SYNONYM PACKAGE WAREHOUSE STAGE "
    "STREAM TASK PIPE PARTITION MODEL DICTIONARY ROUTINE CLUSTER LINK DIRECTORY CATALOG "
    "CERTIFICATE ASSEMBLY EXTERNAL DYNAMIC RESOURCE MACRO GRAPH CONSTRAINT COLUMN SHARE "
    "FULLTEXT PUBLIC SNAPSHOT BUCKET MEASUREMENT SERIES SHARD RETENTION"
)
# After these a statement may begin inside another.
_BEFORE = frozenset(
    ("(", "BEGIN", "THEN", "ELSE", "LOOP", "AS", "ATOMIC", "DO", "EXPLAIN")
)
_NO_UPDATE_AFTER = frozenset(
    ("FOR", "KEY", "ON", "AFTER", "BEFORE", "OR", "OF", ",", "INSERT", "DELETE", ".")
)
_ENDS_CONDITION = frozenset(
    ("RETURNING", "ORDER", "LIMIT", "OPTION", "FETCH", "OFFSET", "WINDOW", "THEN")
)
# What ALTER … DROP may take away without losing anything but a rule.
_MILD = frozenset(("NOT", "DEFAULT", "IDENTITY", "EXPRESSION"))
_HOLDING = frozenset(("TABLE", "DATABASE", "SCHEMA"))
_NESTED = 4
# So many words that a verb looks at cost as much as a word that the shell's reader takes.
_SEEN_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class SqlFinding:
    """A rule that tripped, or a text that the server gives to a shell or runs itself."""

    rule: str
    start: int
    end: int
    shell: str = ""
    sql: str = ""


def judge_statements(
    text: str, budget: ReadingBudget, *, depth: int = 0
) -> list[SqlFinding]:
    """Everything found, in the order of the text."""
    lower = text.lower()
    places = find_risky_words(lower)
    if not places:
        return []
    # A routine's body holds semicolons, so its end must be seen as well.
    telling = None if "create" in lower else places
    found = list(_judge(text, telling, budget, mysql=False, depth=depth))
    if "\\'" in text or "#" in text:
        # Whose text it is nobody says: it is read in both ways.
        found += [
            each
            for each in _judge(text, telling, budget, mysql=True, depth=depth)
            if each not in found
        ]
    return found


def _judge(
    text: str,
    telling: Sequence[int] | None,
    budget: ReadingBudget,
    *,
    mysql: bool,
    depth: int,
) -> Iterator[SqlFinding]:
    defining = False
    cut = split_statements(text, mysql=mysql, telling=telling)
    for tokens in cut:
        budget.count_step(len(tokens) + 2)
        if not tokens:
            continue
        first = tokens[0].text
        if tokens[-1].kind == BROKEN:
            yield _make_finding("opaque-sql", tokens, 0)
        if defining:
            # The body of a procedure: it is stored, not run.
            defining = first != "END"
            continue
        words = {token.text for token in tokens[:6] if token.kind == WORD}
        if first == "CREATE":
            yield from _judge_create(tokens)
            routine = words & {"PROCEDURE", "FUNCTION", "TRIGGER", "EVENT", "PACKAGE"}
            texts = [token.text for token in tokens]
            defining = bool(routine) and "BEGIN" in texts and "END" not in texts
            continue
        if first == UNKNOWN or first.strip(UNKNOWN) == "":
            yield _make_finding("opaque-sql", tokens, 0)
            continue
        if first in ("GRANT", "REVOKE", "COMMENT"):
            continue
        if first == "EXPLAIN" and not _analyzes(tokens):
            continue
        yield from _judge_inside(tokens, budget, depth=depth)


def _judge_inside(
    tokens: list[SqlToken], budget: ReadingBudget, *, depth: int
) -> Iterator[SqlFinding]:
    before = "("
    for index, token in enumerate(tokens):
        if token.kind == WORD:
            verb = _VERBS.get(token.text)
            if verb is not None and (
                index == 0
                or before in _BEFORE
                or _is_unseparated(tokens, index, before)
            ):
                # Every verb looks at the rest of its statement.
                budget.count_step((len(tokens) - index) // _SEEN_AT_ONCE)
                for found in verb(tokens, index):
                    yield from _judge_text(found, budget) if found.sql else (found,)
            elif token.text == "PROGRAM" and index + 1 < len(tokens):
                following = tokens[index + 1]
                if following.kind == STRING:
                    yield SqlFinding("", following.start, following.end, following.text)
        elif token.kind == BODY and depth < _NESTED and tokens[0].text == "DO":
            body = token.text[token.text.index("$", 1) + 1 :]
            shift = token.start + len(token.text) - len(body)
            for each in judge_statements(body, budget, depth=depth + 1):
                yield SqlFinding(
                    each.rule, each.start + shift, each.end + shift, each.shell
                )
        if token.kind in (WORD, SIGN) and token.text not in ("ANALYZE", "VERBOSE", ")"):
            before = token.text
        elif token.text == ")" and tokens[0].text == "EXPLAIN" and index < 12:
            before = "("


def _judge_text(outer: SqlFinding, budget: ReadingBudget) -> Iterator[SqlFinding]:
    """What is found in a text that a statement runs, at the place of that text."""
    for found in judge_statements(outer.sql, budget, depth=_NESTED):
        yield SqlFinding(found.rule, outer.start, outer.end, found.shell)


def _is_unseparated(tokens: list[SqlToken], index: int, before: str) -> bool:
    """Some servers want no semicolon before the next statement."""
    if tokens[0].text == "ALTER" or index + 1 >= len(tokens):
        return False
    text, following = tokens[index].text, tokens[index + 1].text
    return (
        (text == "DROP" and following in _KINDS)
        or (text == "TRUNCATE" and following == "TABLE")
        or (text == "DELETE" and following == "FROM")
        or (text == "UPDATE" and before not in _NO_UPDATE_AFTER)
    )


def _analyzes(tokens: list[SqlToken]) -> bool:
    """EXPLAIN ANALYZE runs the statement."""
    for index, token in enumerate(tokens[1:12], 1):
        if token.text in ("ANALYZE", "ANALYSE"):
            following = tokens[index + 1].text if index + 1 < len(tokens) else ""
            return following not in ("FALSE", "OFF", "0")
        if token.text in _VERBS:
            return False
    return False


def _make_finding(rule: str, tokens: Sequence[SqlToken], index: int) -> SqlFinding:
    scope = _get_scope(tokens, index) or tokens[index : index + 1]
    return SqlFinding(rule, scope[0].start, scope[-1].end)


def _get_scope(tokens: Sequence[SqlToken], index: int) -> Sequence[SqlToken]:
    """From this token to the end of the statement, or of the parentheses around it."""
    depth = 0
    for place in range(index, len(tokens)):
        token = tokens[place]
        if token.kind != SIGN:
            continue
        if token.text == "(":
            depth += 1
        elif token.text == ")":
            depth -= 1
            if depth < 0:
                return tokens[index:place]
    return tokens[index:]


def _find_condition(scope: Sequence[SqlToken]) -> Sequence[SqlToken] | None:
    """What stands after WHERE, None if there is none."""
    depth = 0
    start = -1
    for place, token in enumerate(scope):
        if token.kind == SIGN:
            depth += (token.text == "(") - (token.text == ")")
        elif token.kind == WORD and depth == 0:
            if token.text == "WHERE" and start < 0:
                start = place + 1
            elif start >= 0 and token.text in _ENDS_CONDITION:
                return scope[start:place]
    return None if start < 0 else scope[start:]


def _judge_rows(
    rule: str, tokens: Sequence[SqlToken], index: int
) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    condition = _find_condition(scope)
    if condition is None or _selects_all(scope, condition):
        chosen: bool | None = False
    else:
        chosen = picks_rows(condition)
    if chosen is None:
        yield _make_finding("opaque-sql", tokens, index)
    elif not chosen:
        yield _make_finding(rule, tokens, index)


def _selects_all(scope: Sequence[SqlToken], condition: Sequence[SqlToken]) -> bool:
    """`id IN (SELECT id FROM the same table)` holds for every row."""
    texts = [token.text.upper() for token in condition[:9]]
    if len(texts) != 8 or texts[1:4] != ["IN", "(", "SELECT"] or texts[5] != "FROM":
        return False
    table = [token.text.upper() for token in scope[1:3] if token.text != "FROM"]
    return texts[0] == texts[4] and texts[6] in table


def _judge_delete(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    if len(scope) < 2 or tokens[0].text == "MERGE":
        return
    if scope[1].kind in (WORD, NAME):
        yield from _judge_rows("sql-delete-all", tokens, index)


def _judge_update(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    texts = [token.text for token in scope[1:32]]
    if "SET" not in texts or texts[0] == "SET" or tokens[0].text == "MERGE":
        return
    yield from _judge_rows("sql-update-all", tokens, index)


def _judge_drop(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    texts = [token.text for token in scope[1:6]]
    if texts and UNKNOWN in texts[0]:
        yield _make_finding("opaque-sql", tokens, index)
    if len(texts) < 2 or texts[0] not in _KINDS:
        return
    named = [text for text in texts[1:] if text not in ("IF", "EXISTS")]
    if named and named[0].lower().startswith(("#", "pg_temp")):
        return
    yield _make_finding("sql-drop", tokens, index)


def _judge_truncate(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    if len(scope) > 1 and scope[1].kind in (WORD, NAME):
        yield _make_finding("sql-truncate", tokens, index)


def _judge_alter(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    for place, token in enumerate(scope[:-1]):
        following = scope[place + 1].text
        if token.kind != WORD:
            continue
        if token.text == "DROP" and following not in _MILD:
            yield _make_finding("sql-alter-drop", tokens, index)
            return
        if token.text == "TRUNCATE":
            yield _make_finding("sql-truncate", tokens, index)
            return
        if token.text in ("DELETE", "UPDATE") and place > 2:
            rule = f"sql-{token.text.lower()}-all"
            yield from _judge_rows(rule, tokens, index + place)
            return


def _judge_merge(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    scope = _get_scope(tokens, index)
    texts = [token.text for token in scope]
    if "DELETE" not in texts:
        return
    condition = scope[: texts.index("WHEN")] if "WHEN" in texts else scope
    matched = condition[texts.index("ON") + 1 :] if "ON" in texts else ()
    if "SOURCE" in texts or not picks_rows(matched):
        yield _make_finding("sql-delete-all", tokens, index)


def _judge_purge(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    texts = [token.text for token in tokens[index + 1 : index + 3]]
    if texts[:1] and texts[0] in ("BINARY", "MASTER", "RECYCLEBIN", "TABLE"):
        yield _make_finding("sql-drop", tokens, index)


def _judge_insert(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    if [token.text for token in tokens[index + 1 : index + 2]] == ["OVERWRITE"]:
        yield _make_finding("sql-truncate", tokens, index)


def _judge_execute(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    """Dynamic SQL: a literal is read, anything else cannot be."""
    scope = tokens[index + 1 : index + 12]
    texts = [token.text.upper() for token in scope]
    if texts[:1] == ["XP_CMDSHELL"] or texts[:3] == ["MASTER", ".", "XP_CMDSHELL"]:
        for token in scope:
            if token.kind == STRING:
                yield SqlFinding("", token.start, token.end, token.text)
                return
    dynamic = bool(texts) and (
        texts[0] in ("IMMEDIATE", "SP_EXECUTESQL", "(", "FORMAT", "DYNAMIC")
        or scope[0].kind == STRING
        or (tokens[0].text != "EXECUTE" and index > 0 and texts[0].startswith("@"))
    )
    if not dynamic:
        return
    literals = [token for token in scope if token.kind == STRING]
    if not literals or "||" in texts or "+" in texts or texts[0] == "FORMAT":
        yield _make_finding("opaque-sql", tokens, index)
    for token in literals[:1]:
        yield SqlFinding("", token.start, token.end, sql=token.text)


def _judge_prepare(tokens: list[SqlToken], index: int) -> Iterator[SqlFinding]:
    """MySQL: PREPARE name FROM text."""
    texts = [token.text for token in tokens[index : index + 4]]
    if len(texts) == 4 and texts[2] == "FROM":
        token = tokens[index + 3]
        if token.kind != STRING:
            yield _make_finding("opaque-sql", tokens, index)
            return
        yield SqlFinding("", token.start, token.end, sql=token.text)


def _judge_create(tokens: list[SqlToken]) -> Iterator[SqlFinding]:
    """CREATE OR REPLACE TABLE throws the old table away."""
    texts = [token.text for token in tokens[:5]]
    held = _HOLDING.isdisjoint(texts[3:])
    if texts[1:3] == ["OR", "REPLACE"] and not held and "TEMP" not in texts:
        yield _make_finding("sql-drop", tokens, 0)


_VERBS: dict[str, Callable[[list[SqlToken], int], Iterator[SqlFinding]]] = {
    "DROP": _judge_drop,
    "TRUNCATE": _judge_truncate,
    "DELETE": _judge_delete,
    "UPDATE": _judge_update,
    "ALTER": _judge_alter,
    "MERGE": _judge_merge,
    "PURGE": _judge_purge,
    "RESET": _judge_purge,
    "INSERT": _judge_insert,
    "EXEC": _judge_execute,
    "EXECUTE": _judge_execute,
    "PREPARE": _judge_prepare,
}
