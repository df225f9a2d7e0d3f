"""Reads and edits of sensitive files, and tools that show or send secrets.

Commands are judged where they are read (shell_commands.families); this is the same for
calls that name a file, an address or a text instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from guidance.core.shell_commands.families.afar import grants_rights
from guidance.core.shell_commands.families.contents import list_content_rules
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.sensitive.written_paths import find_written_rule
from guidance.core.shell_commands.word_lists import split_names
from guidance.core.tools.calls import EditCall, MultiEditCall, ToolCall
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.rules import ToolRules
from guidance.core.tools.texts import Text, list_texts

# Arguments that name a file, as `normalize_name` gives them.
_PATHS = split_names(
    "path paths file files filepath filepaths filename filenames notebookpath source "
    "sourcepath src from uri uris targetfile absolutepath attachment attachments "
    "inputfile localpath relativepath workspacepath documentpath destination dest dst to "
    "target"
)
_WORD = re.compile(r"[a-z]+|[A-Z][a-z]*")
_READING = split_names(
    "read view get open cat load show download fetch grep search upload attach send "
    "share post copy head tail print dump export file"
)
_WRITING = split_names(
    "write edit create update insert replace append move rename delete remove patch "
    "put set save add modify str edits"
)
_SECRETS = split_names(
    "secret secrets credential credentials password passwords keychain"
)
_SHOWING = split_names(
    "read get show fetch reveal access dump export view decrypt retrieve lookup"
)
_CONTENTS = split_names(
    "content contents newstring newtext newstr text newsource filetext code body data "
    "insertline inserttext new edits patch diff"
)
_SQL = split_names("sql query queries statement statements")
# Who may do what, and what gives more of it.
_RIGHTS = split_names(
    "collaborator collaborators role roles permission permissions policy policies member "
    "members iam acl"
)
_GRANTING = split_names("update add grant set put attach assign create change edit")
_PROTECTION = split_names("protection protections ruleset rulesets firewall mfa")
_LOOSENING = split_names("update delete remove disable set put change edit")
# Commands run somewhere else, and the arguments that say where.
_RUNNING = split_names("exec execute run ssh invoke shell command")
_PLACES = split_names(
    "namespace context cluster environment env host hostname server target stage instance"
)
_PRODUCTION = re.compile(
    r"(?:.*[-_/.@])?(?:prod|production|prd|live)(?:[-_/.].*)?", re.IGNORECASE
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
    if isinstance(call, EditCall):
        yield from _list_write_rules(call.file_path, [Text("/content", call.content)])
    elif isinstance(call, MultiEditCall):
        texts = [
            Text(f"/edits/{number}/new", edit.new)
            for number, edit in enumerate(call.edits[:_MOST])
        ]
        yield from _list_write_rules(call.file_path, texts)
    elif isinstance(call, ToolCall):
        yield from _list_tool_rules(evidence, call.tool)


def _list_tool_rules(evidence: CallEvidence, tool: str) -> Iterator[tuple[str, Text]]:
    words = split_tool_name(tool)
    named = Text("/tool", tool)
    if words & _SECRETS and words & _SHOWING:
        yield "credential-print", named
    if (words & _RIGHTS and words & _GRANTING) or (
        words & _PROTECTION and words & _LOOSENING
    ):
        yield "privilege-grant", named
    paths = list(list_arguments(evidence, _PATHS))
    if words & _WRITING:
        texts = list(list_arguments(evidence, _CONTENTS))
        for path in paths:
            yield from _list_write_rules(path.text, texts, path)
    elif words & _READING:
        for path in paths:
            rule = find_secret_rule(path.text)
            if rule:
                yield rule, path
    if words & _RUNNING:
        for place in list_arguments(evidence, _PLACES):
            if _PRODUCTION.fullmatch(place.text[:200]):
                yield "remote-command", place
    for sql in list_arguments(evidence, _SQL):
        if grants_rights(sql.text):
            yield "privilege-grant", sql


def _list_write_rules(
    path: str, texts: Iterable[Text], place: Text | None = None
) -> Iterator[tuple[str, Text]]:
    """What is said about writing this file, and about what is put into it."""
    rule = find_written_rule(path)
    if rule:
        yield rule, place or Text("/file_path", path)
    for text in texts:
        for found in list_content_rules(path, text.text):
            yield found, text


def split_tool_name(tool: str) -> frozenset[str]:
    """The words in a name such as mcp__vault__readSecret."""
    return frozenset(word.lower() for word in _WORD.findall(tool[:200]))


def list_arguments(evidence: CallEvidence, names: frozenset[str]) -> Iterator[Text]:
    """The texts of arguments with such names, wherever they stand."""
    seen = 0
    for holder in evidence.held:
        for name, key, part in holder.parts:
            if name in names:
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
