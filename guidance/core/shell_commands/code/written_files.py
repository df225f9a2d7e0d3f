"""Files that a program on the command line writes, and the text it puts into them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.code.literals import read_literal

_PATH = r"[\"'](?P<path>[^\"'\n]{1,200})[\"']"
_HANDLE = r"(?:my\s+)?\$?\w{1,40}"
# Each ends where the text begins.
_WRITES = re.compile(
    # Python
    rf"\bopen\s*\(\s*{_PATH}\s*,\s*[\"'][wax]b?\+?[\"'][^()\n]{{0,60}}\)"
    r"(?:\s*\.\s*|\s+as\s+(?P<file>\w{1,40})\s*:\s*(?P=file)\.)write\(\s*"
    rf"|\bPath\(\s*{_PATH.replace('path', 'path2')}\s*\)\.write_(?:text|bytes)\(\s*"
    # JavaScript, Ruby and PHP
    r"|\b(?:(?:write|append)File(?:Sync)?|(?:File|IO)\.(?:bin)?write|file_put_contents)\s*\(?\s*"
    rf"{_PATH.replace('path', 'path3')}\s*,\s*"
    # Perl
    rf"|\bopen\s*\(?\s*{_HANDLE}\s*,\s*[\"']>{{1,2}}\s*(?:[\"']\s*,\s*[\"'])?"
    r"(?P<path4>[^\"'\n]{1,200})[\"']\s*\)?[^;\n]{0,40};\s*printf?\s*\(?\s*\{?\s*\$?\w{1,40}\s*\}?\s+"
)
# awk names the file after the text.
_PRINTED = re.compile(
    r"\bprintf?\s*\(?\s*\"(?P<text>(?:[^\"\\\n]|\\.){1,400})\"\s*\)?\s*>{1,2}\s*\"(?P<path>[^\"\n]{1,200})\""
)
# One of these stands in each; most programs only read (bench: "a program read").
_SIGNS = compile_byte_pattern(r"rite|appendFile|file_put_contents|[\"']>|>\s*\"")


def list_written_files(code: str) -> Iterator[tuple[str, str]]:
    """Each file with its text, where that is written out."""
    if _SIGNS.search(encode_one_byte(code)) is None:
        return
    for match in _WRITES.finditer(code):
        literal = read_literal(code, match.end())
        if literal is not None:
            named = ("path", "path2", "path3", "path4")
            yield next(path for name in named if (path := match[name])), literal[0]
    for match in _PRINTED.finditer(code):
        yield match["path"], match["text"]
