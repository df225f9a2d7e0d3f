"""The rules, subject by subject. A literal table: no discovery, no registration."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from guidance.core.shell_commands.rules import (
    code,
    git,
    git_questions,
    hosts,
    opaque,
    tool_names,
    unknown,
)
from guidance.core.shell_commands.rules.data import (
    databases,
    frameworks,
    queues,
    sql,
    vaults,
)
from guidance.core.shell_commands.rules.data import questions as data_questions
from guidance.core.shell_commands.rules.families import (
    credential_questions,
    credential_read,
    exfiltration,
    exfiltration_questions,
    guard_questions,
    guard_tampering,
    persistence,
    privilege,
    remote_execution,
    remote_questions,
    system_questions,
)
from guidance.core.shell_commands.rules.files import (
    deleting,
    output_questions,
    overwriting,
)
from guidance.core.shell_commands.rules.files import questions as file_questions
from guidance.core.shell_commands.rules.hosting import (
    cloud,
    configuration,
    containers,
    infrastructure,
    platforms,
    registries,
    requests,
)
from guidance.core.shell_commands.rules.hosting import questions as hosting_questions
from guidance.core.shell_commands.rules.machine import access, disks, system, windows
from guidance.core.shell_commands.rules.machine import questions as machine_questions
from guidance.core.shell_commands.rules.matching import Program, compile_patterns
from guidance.core.shell_commands.rules.questions import QUESTIONS
from guidance.core.shell_commands.rules.rule import Rule
from guidance.core.shell_commands.word_lists import split_names

_SUBJECTS = (
    deleting,
    overwriting,
    git,
    hosts,
    sql,
    databases,
    frameworks,
    vaults,
    disks,
    system,
    access,
    registries,
    containers,
    infrastructure,
    configuration,
    cloud,
    platforms,
    requests,
    queues,
    windows,
    code,
    tool_names,
    unknown,
    opaque,
)
_FAMILIES = (
    credential_read,
    exfiltration,
    persistence,
    privilege,
    remote_execution,
    guard_tampering,
)

_DESTROYING = {rule.name: rule for subject in _SUBJECTS for rule in subject.RULES}
_BEYOND = {rule.name: rule for family in _FAMILIES for rule in family.RULES}
RULES: Mapping[str, Rule] = MappingProxyType({**_DESTROYING, **_BEYOND})
_PROGRAMS = compile_patterns(
    _DESTROYING.values(),
    {
        **QUESTIONS,
        **data_questions.QUESTIONS,
        **file_questions.QUESTIONS,
        **git_questions.QUESTIONS,
        **output_questions.QUESTIONS,
        **hosting_questions.QUESTIONS,
        **machine_questions.QUESTIONS,
    },
)
for _name, _program in _PROGRAMS.items():
    if _program.is_led and _name not in unknown.COMPLETE:
        _program.add_words(unknown.VERBS)
PATTERNS: Mapping[str, Program] = MappingProxyType(_PROGRAMS)
FAMILY_PATTERNS: Mapping[str, Program] = MappingProxyType(
    compile_patterns(
        _BEYOND.values(),
        {
            **QUESTIONS,
            **credential_questions.QUESTIONS,
            **exfiltration_questions.QUESTIONS,
            **guard_questions.QUESTIONS,
            **system_questions.QUESTIONS,
            **remote_questions.QUESTIONS,
        },
    )
)
# Their flags begin with a slash, or are whole words after one dash.
_SLASHING = split_names(
    "del erase rd rmdir format reg sc net vssadmin wbadmin bcdedit schtasks cipher "
    "robocopy icacls takeown wevtutil diskpart wmic fsutil pnputil netsh shutdown "
    "taskkill copy xcopy ni dism setx manage-bde bitsadmin cmdkey vaultcmd "
    "rundll32 regsvr32 mshta ri rp rni clc move"
)
_CMDLETS = split_names(
    "remove clear format stop restart initialize new disable uninstall unregister set out "
    "copy expand move"
)
WINDOWS = frozenset(
    name
    for name in (*PATTERNS, *FAMILY_PATTERNS)
    if name in _SLASHING or ("-" in name and name.partition("-")[0] in _CMDLETS)
)
