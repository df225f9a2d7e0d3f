"""Reads and edits of sensitive files, and tools that show or send secrets.

Commands are judged where they are read (shell_commands.families); this is the same for
calls that name a file, an address or a text instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.secret_paths import find_secret_rule
from guidance.core.shell_commands.word_lists import split_names
from guidance.core.tools.calls import ToolCall
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.rules import ToolRules
from guidance.core.tools.texts import Text, list_texts

# Arguments that name a file, as `normalize_name` gives them.
_PATHS = split_names(
    "path paths file files filepath filepaths filename filenames notebookpath source "
    "sourcepath src from uri uris targetfile absolutepath attachment attachments "
    "inputfile localpath relativepath workspacepath documentpath"
)
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_READING = split_names(
    "read view get open cat load show download fetch grep search upload attach send "
    "share post copy head tail print dump export file"
)
_WRITING = split_names(
    "write edit create update insert replace append move rename delete remove patch "
    "put set save add modify"
)
_SECRETS = split_names(
    "secret secrets credential credentials password passwords keychain"
)
_SHOWING = split_names(
    "read get show fetch reveal access dump export view decrypt retrieve lookup"
)
# So many arguments of one call are looked at.
_MOST = 200


def check_families(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    told: set[str] = set()
    for rule, text in _list_rules(evidence):
        decision = rules.decide(rule, default=RULES[rule].decision)
        if decision != "allow" and rule not in told:
            told.add(rule)
            yield _make_finding(rule, text, decision)


def _list_rules(evidence: CallEvidence) -> Iterator[tuple[str, Text]]:
    call = evidence.call
    if not isinstance(call, ToolCall):
        return
    words = split_tool_name(call.tool)
    if words & _SECRETS and words & _SHOWING:
        yield "credential-print", Text("/tool", call.tool)
    if words & _READING and not words & _WRITING:
        for text in list_named_paths(evidence):
            rule = find_secret_rule(text.text)
            if rule:
                yield rule, text


def split_tool_name(tool: str) -> frozenset[str]:
    """The words in a name such as mcp__vault__readSecret."""
    return frozenset(word.lower() for word in _WORD.findall(tool[:200]))


def list_named_paths(evidence: CallEvidence) -> Iterator[Text]:
    """The texts of arguments that name files, wherever they stand."""
    seen = 0
    for holder in evidence.held:
        for name, key, part in holder.parts:
            if name in _PATHS:
                for text in list_texts(part, f"{holder.place}/{key}"):
                    seen += 1
                    if seen > _MOST:
                        return
                    yield text


def _make_finding(rule: str, text: Text, decision: str) -> CallFinding:
    known = RULES[rule]
    return CallFinding(
        gate=known.family,
        decision=decision,
        message=known.message,
        remediation=known.advice,
        details={
            "rule": rule,
            "severity": known.severity,
            "why": known.why,
            "text": text.text[:500],
            "argument": text.place,
            "span": None,
        },
    )
