"""The rules, subject by subject. A literal table: no discovery, no registration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from guidance.core.shell_commands.rules import (
    code,
    files,
    git,
    opaque,
    tool_names,
    unknown,
)
from guidance.core.shell_commands.rules.data import databases, queues, sql
from guidance.core.shell_commands.rules.hosting import cloud, containers
from guidance.core.shell_commands.rules.machine import disks, system, windows
from guidance.core.shell_commands.rules.matching import Program, compile_patterns
from guidance.core.shell_commands.rules.questions import QUESTIONS
from guidance.core.shell_commands.rules.rule import Rule
from guidance.core.shell_commands.word_lists import split_names

_SUBJECTS = (
    files,
    git,
    sql,
    databases,
    disks,
    system,
    containers,
    cloud,
    queues,
    windows,
    code,
    tool_names,
    unknown,
    opaque,
)

RULES: Mapping[str, Rule] = MappingProxyType(
    {rule.name: rule for subject in _SUBJECTS for rule in subject.RULES}
)
PATTERNS: Mapping[str, Program] = MappingProxyType(
    compile_patterns(RULES.values(), QUESTIONS)
)
# Their flags begin with a slash, or are whole words after one dash.
_SLASHING = split_names(
    "del erase rd rmdir format reg sc net vssadmin wbadmin bcdedit schtasks cipher "
    "robocopy icacls takeown wevtutil diskpart wmic fsutil pnputil netsh shutdown "
    "ri rp rni clc"
)
_CMDLETS = split_names(
    "remove clear format stop restart initialize new disable uninstall unregister"
)
WINDOWS = frozenset(
    name
    for name in PATTERNS
    if name in _SLASHING or ("-" in name and name.partition("-")[0] in _CMDLETS)
)
