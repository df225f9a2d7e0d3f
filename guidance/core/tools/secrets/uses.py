"""What a command does with a secret in it: searches for it or takes it out, or else."""

from __future__ import annotations

import re

from guidance.core.secrets import find_command_end, find_secrets

# So far back a line is read for the command that holds a secret.
_REACH = 2_000
_BEGIN = re.compile(
    r"\s*(?:(?:\w+=\S*|sudo|time|command|env|exec|!|if|while|until|then|do|else|\(|\{|\$\()"
    r"\s*(?=\S))*"
)
_WORD = re.compile(r"[^\s;|&<>()]+")
_SEARCHES = frozenset(
    [
        "grep",
        "egrep",
        "fgrep",
        "zgrep",
        "rg",
        "ag",
        "ack",
        "ugrep",
        "findstr",
        "select-string",
        "sls",
        "gitleaks",
        "trufflehog",
        "detect-secrets",
        "ggshield",
        "bfg",
        "git-filter-repo",
    ]
)
_GIT = re.compile(
    r"git(?:\s+-\S+(?:\s+[^-\s]\S*)??)*\s+(?:grep|log|rev-list|filter-repo|filter-branch)\s"
)
_EDITORS = frozenset({"sed", "gsed", "perl"})
# Commands that another one runs for each file.
_RUN = re.compile(r"(?:\bxargs\b|\s-exec(?:dir)?\s)(?:\s*-\S+)*\s*(?=[A-Za-z])")
# A file for history filters: what is found and what stands there instead.
_EXPRESSION = re.compile(r"[^\n]*==>")
_HISTORY = re.compile(r"\b(?:filter-repo|bfg(?:[\w.-]*\.jar)?)\b[^\n]*--replace-text")
_INTERPRETER = re.compile(
    r"\b(?:python[\d.]*|ruby|node|php)\s+(?:-\s|-c\b|-e\b|-r\b|<<)|-replace\b"
)
_REPLACED = re.compile(
    r"(?:\.(?:replace(?:All)?|gsub|sub)\(|\bsub\(|-c?replace)\s*[rb]?([\"'])"
    r"(?:(?!\1)[^\n])*$"
)
_SUBSTITUTED = re.compile(r"(?:^|[^\w\\])s([^\w\s\\])((?:(?!\1)[^\\\n]|\\.)*)$")
_DELETED = re.compile(r"/[^/\n]*$")
_DELETES = re.compile(r"[^/\n]*/I?d")


def is_sought(text: str, start: int, end: int) -> bool:
    """The command only searches for what stands there, or takes it away."""
    if _EXPRESSION.match(text, start):
        return True
    begin, command = _find_command(text, start)
    line = text[max(0, start - _REACH) : start]
    if _HISTORY.search(line.rpartition("\n")[2]):
        return True
    if _REPLACED.search(line) and _INTERPRETER.search(text):
        return True
    return _is_sought_by(command, start - begin)


def _find_command(text: str, place: int) -> tuple[int, str]:
    """The simple command that holds this place, and where it begins."""
    least = max(0, place - _REACH)
    begin = text.rfind("\n", least, place) + 1 or least
    while begin > least and text[begin - 2 : begin] == "\\\n":
        begin = text.rfind("\n", least, begin - 1) + 1 or least
    while (end := find_command_end(text, begin)) < place:
        begin = end + 1
    return begin, text[begin:end]


def _is_sought_by(command: str, at: int) -> bool:
    for run in _RUN.finditer(command, 0, at):
        if _is_sought_by(command[run.end() :], at - run.end()):
            return True
    begun = _BEGIN.match(command)
    word = _WORD.match(command, begun.end() if begun else 0)
    if word is None or word.end() > at:
        return False
    name = word[0].rpartition("/")[2].lower().removesuffix(".exe")
    if name in _SEARCHES or _GIT.match(command, word.start(), at):
        return True
    return name in _EDITORS and _is_taken_out(command, at)


def _is_taken_out(command: str, at: int) -> bool:
    """In s/secret/…/ and /secret/d, and not in what is put there instead."""
    substituted = _SUBSTITUTED.search(command, 0, at)
    if substituted is None:
        deleted = _DELETED.search(command, 0, at)
        return deleted is not None and _DELETES.match(command, at) is not None
    parts = command[substituted.start(2) :].split(substituted[1], 2)
    return len(parts) == 3 and not find_secrets(parts[1])
