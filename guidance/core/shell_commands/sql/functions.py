"""Functions and clauses that delete or write files in the midst of a harmless statement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.paths import is_temporary

_DESTROYING = re.compile(
    r"\b(?:lo_unlink|pg_drop_replication_slot|pg_file_unlink|drop_chunks|xp_delete_file"
    r"|dropgeometrytable|dbms_lob\.(?:erase|trim)|utl_file\.fremove|dblink_exec)\s*\(",
    re.IGNORECASE,
)
# Procedures whose own name says what they do, and the one that runs a text for each table.
_PROCEDURE = re.compile(
    r"\b(?:call|exec|execute|perform)\s+(?:[\w\"\[\]]{1,64}\.|(?![\w\"\[\]]{1,64}\.))"
    r"(?:(?:reset|wipe|purge|truncate|drop|delete|destroy|clear|empty)_?(?:all|every|prod"
    r"|table|user|data|db)\w*|sp_msforeach(?:table|db)\b[^;\n]{0,80}?"
    r"\b(?:truncate|drop|delete|disable))",
    re.IGNORECASE,
)
# Functions that run the text they are given.
_RUNNING = re.compile(
    r"\b(?:query_to_xml\w*|dblink)\s*\([^)\n]{0,200}?\b(?:drop|truncate|delete)\b",
    re.IGNORECASE,
)
# The rows of a table put over themselves, with less in them.
_OVER_ITSELF = re.compile(
    r"\breplace\s+into\s+(?P<a>[\w.`\"]+)(?![\w.`\"])"
    r"(?=(?P<select>[^;]{0,200}?\bselect\b))(?P=select)[^;]{0,200}?\bfrom\s+(?P=a)(?![\w.])"
    r"|\binsert\s+into\s+(?P<b>[\w.`\"]+)(?![\w.`\"])"
    r"(?=(?P<from>[^;]{0,200}?\bfrom\s+(?P=b)(?![\w.])))(?P=from)"
    r"[^;]{0,200}?\b(?:on\s+duplicate\s+key\s+update|do\s+update\s+set)\b",
    re.IGNORECASE,
)
# A block that runs what it has put together; literals alone are read elsewhere.
_BLOCK = re.compile(r"(?:\A|;)\s*do\s+(?:language\s+\w+\s+)?[\$e']", re.IGNORECASE)
_COMPUTED = re.compile(
    r"\bexecute\s+(?!immediate\b|format\b|['\"])[\w(]", re.IGNORECASE
)
_WRITING = re.compile(
    r"\binto\s+(?:dumpfile|outfile)\s+'([^'\n]{1,300})'"
    r"|\bto\s+'([^'\n]{1,300})'\s*(?:;|with\b|csv\b|\(|\Z)",
    re.IGNORECASE,
)


# Most statements hold none of these, told by reading them once (bench: "rows for a
# database"): what one of the patterns above cannot do without.
_TELLING = compile_byte_pattern(
    "unlink|drop|delete|truncate|dbms_lob|utl_file|dblink|call|exec|perform|select|copy"
    "|outfile|dumpfile"
)


def find_in_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """The rule and the place of each."""
    lower = text.lower()
    if _TELLING.search(encode_one_byte(lower)) is None:
        return
    if "(" in lower:
        for match in (*_DESTROYING.finditer(text), *_RUNNING.finditer(text)):
            yield "sql-drop", *match.span()
    if "call" in lower or "exec" in lower or "perform" in lower:
        for match in _PROCEDURE.finditer(text):
            yield "sql-drop", *match.span()
    if "execute" in lower and _BLOCK.search(text):
        for match in _COMPUTED.finditer(text):
            yield "opaque-sql", *match.span()
    if "select" in lower and " into" in lower:
        for match in _OVER_ITSELF.finditer(text):
            yield "sql-update-all", *match.span()
    if "copy" in lower or "outfile" in lower or "dumpfile" in lower:
        for match in _WRITING.finditer(text):
            path = match[1] or match[2]
            # The server writes to whole paths alone; others are the client's.
            if path[:1] == "/" and not is_temporary(path):
                yield "overwrite-file", *match.span()
