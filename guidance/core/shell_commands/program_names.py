"""Names of programs: which one is meant, however it is written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.word_lists import split_names

_SUFFIXES = (".exe", ".cmd", ".bat", ".com", ".ps1")
_VERSIONED = re.compile(
    r"(python|pypy|perl|ruby|php|lua|node|nodejs|pip|bash|gcc|mkfs|psql|redis-cli)"
    r"[-.]?[0-9.]+|(mkfs|newfs)[._].*"
)
# The programs that load others, such as ld-linux-x86-64.so.2.
_LOADER = re.compile(r"ld(?:64)?(?:-(?:linux|musl|lsb)[\w.-]*)?\.so(?:\.\d+)?")
SAME = {
    "nodejs": "node",
    "pypy": "python",
    "py": "python",
    "gawk": "awk",
    "mawk": "awk",
    "nawk": "awk",
    "mariadb": "mysql",
    "mariadb-admin": "mysqladmin",
    "mongo": "mongosh",
    "tofu": "terraform",
    "oc": "kubectl",
    "k": "kubectl",
    "pwsh": "powershell",
    "gfind": "find",
    "grm": "rm",
    "gxargs": "xargs",
    "gtimeout": "timeout",
    "django-admin": "manage.py",
    "kafka-topics.sh": "kafka-topics",
    "kafka-consumer-groups.sh": "kafka-consumer-groups",
    "kafka-delete-records.sh": "kafka-delete-records",
    "kafka-configs.sh": "kafka-configs",
    "valkey-cli": "redis-cli",
    "keydb-cli": "redis-cli",
    "nerdctl": "docker",
    "podman-compose": "docker-compose",
    "iptables-legacy": "iptables",
    "iptables-nft": "iptables",
    "https": "http",
    "xh": "http",
    "flyctl": "fly",
    "sls": "serverless",
    # Those that zsh brings along.
    **{f"zf_{name}": name for name in ("rm", "rmdir", "mv", "ln", "chmod", "chown")},
    "osql": "sqlcmd",
    "mke2fs": "mkfs",
    "newfs": "mkfs",
}

# `$x = 5`, `$x in list` and `$x.Count` are PowerShell; no program is called that way.
_AFTER_VARIABLE = split_names(
    "= += -= in -eq -ne -gt -ge -lt -le -ceq -cne -ieq -ine -like -notlike -match -notmatch "
    "-contains -notcontains -notin -isnot -split -join -replace -creplace -and -or -xor"
)
_MEMBER = re.compile(rf"{UNKNOWN}(?:\.[A-Za-z]+)+(?:\(\))?")


def is_expression(argv: list[str]) -> bool:
    """Does a command that begins with a variable only calculate?"""
    return (len(argv) > 1 and argv[1].lower() in _AFTER_VARIABLE) or _MEMBER.fullmatch(
        argv[0]
    ) is not None


# A pattern with more signs than these is not tried on the names.
_MOST_SIGNS = 3
_LONGEST_PATTERN = 64
_CHARACTER_CLASS = re.compile(r"\\\[[^]]*\]")


def may_match(pattern: str, names: Iterable[str]) -> bool:
    """May a pattern such as `/bin/r?` stand for one of these programs?

    Scripts are not meant: `scripts/*.sh` names those of the project.
    """
    pattern = pattern.rpartition("/")[2].lower()
    signs = sum(map(pattern.count, "*?["))
    if signs > _MOST_SIGNS or len(pattern) > _LONGEST_PATTERN or "(" in pattern:
        return True
    text = _CHARACTER_CLASS.sub(".", re.escape(pattern)).replace("\\*", ".*")
    lines = "\n".join(name for name in names if "." not in name)
    found = re.search(f"^{text.replace(chr(92) + '?', '.')}$", lines, re.MULTILINE)
    return found is not None


def resolve_program(word: str) -> str:
    """The bare lower-case name: no folder, no suffix, no version."""
    if word.isascii() and word.isalpha() and word.islower():
        return SAME.get(word, word)
    name = word
    if "/" in name:
        name = name.rpartition("/")[2]
    if "\\" in name:
        name = name.rpartition("\\")[2]
    name = name.lower()
    if name.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    match = _VERSIONED.fullmatch(name)
    if match:
        name = match[1] or match[2]
    elif name[:2] == "ld" and _LOADER.fullmatch(name):
        name = "ld.so"
    return SAME.get(name, name)
