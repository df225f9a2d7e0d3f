"""Tools that answer the guard, stop it, loosen it or read what it keeps."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.families.guard.records import names_records
from guidance.core.shell_commands.families.guard.rulings import types_answer
from guidance.core.shell_commands.families.guard.texts import AGENTS, is_answer
from guidance.core.shell_commands.families.guard.variables import is_guard_variable
from guidance.core.shell_commands.sensitive.guard_paths import (
    is_guard_data,
    is_guard_setting,
)
from guidance.core.shell_commands.word_lists import split_names
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.families.texts import list_all_texts
from guidance.core.tools.texts import Text

# What an agent's own tools of the guard never do.
_CHANGING = split_names(
    "approve deny rule ruling amend skip retry reopen allow accept disable enable set put "
    "add update edit delete remove grant exempt exemption trust pause policy uninstall"
)
_STOPPING = split_names(
    "stop kill restart pause scale delete remove terminate disable mask shutdown suspend"
)
_SETTING = split_names("set setenv put update add export write edit unset unsetenv")
_PORTS = split_names("port ports tcpport listenport portnumber")
_TYPING = split_names(
    "type keys keystroke keyboard input computer terminal tmux screen applescript"
)
# They hand a text to another agent, or to a program.
_HANDING = split_names("task agent subagent delegate spawn run script") | _TYPING
# A program of one's own may have reviews, too; a statement for a database is run.
_ASKING = split_names("query sql execute exec")
_LISTING = split_names("list ls stat exists tree")
_RESTORING = split_names("checkout restore revert reset")
_AGENT = re.compile(rf"(?:{AGENTS})(?:[:.].*)?", re.IGNORECASE)


def list_guard_rules(
    evidence: CallEvidence, tool: str, words: frozenset[str]
) -> Iterator[tuple[str, Text]]:
    server, _, name = tool.rpartition("__")
    if "checkrail" in server.lower() and not _CHANGING.isdisjoint(
        name.lower().replace("-", "_").split("_")
    ):
        yield "guard-ruling", Text("/tool", tool)
    if words & _STOPPING and _names_own_port(evidence):
        yield "guard-server", Text("/tool", tool)
    for text in list_all_texts(evidence):
        yield from _list_text_rules(text, words)


def _names_own_port(evidence: CallEvidence) -> bool:
    """`kill_port` with the port of the guard's own server."""
    return any(
        name in _PORTS and not isinstance(part, bool) and evidence.server.is_port(each)
        for holder in evidence.held
        for name, _, part in holder.parts
        for each in map(str, part if isinstance(part, list | tuple) else (part,))
    )


def _list_text_rules(text: Text, words: frozenset[str]) -> Iterator[tuple[str, Text]]:
    given = text.text
    if words & _STOPPING and given.lower().startswith("checkrail"):
        yield "guard-server", text
    if words & _SETTING and is_guard_variable(given):
        yield "guard-environment", text
    if words & _SETTING and given.lower() == "bypasspermissions":
        yield "guard-bypass", text
    if (words & _HANDING and is_answer(given)) or (
        words & _TYPING and (types_answer(given) or _AGENT.fullmatch(given))
    ):
        yield "guard-ruling", text
    if words & _RESTORING and is_guard_setting(given):
        yield "guard-settings", text
    if (is_guard_data(given) and not words & _LISTING) or (
        words & _ASKING and names_records(given)
    ):
        yield "guard-data", text
