"""The guard's server stopped: by the process behind its port, or by its name."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.pipelines import (
    list_feeders,
    list_substituted,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

_SERVER = re.compile(r"checkrail|manage\.py up")
# What a command says about itself.
_SAID = re.compile(r"(?:#|\becho\b)[^\n;|&]{0,80}checkrail", re.IGNORECASE)
_ON_PORT = re.compile(r"(?:.*[:=])?\d{2,5}(?:/tcp)?")
KILLING = split_names("kill fuser xargs npx bunx pnpx kill-port fkill")


def judge_kill(walk: Walk, call: ProgramCall) -> None:
    """`kill $(lsof -ti :8000)`: who is meant stands in the substitution or the pipe."""
    name, argv = call.name, call.argv
    if name == "xargs" and "kill" not in argv:
        return
    items = [*list_substituted(*call.simple.words)]
    if name == "xargs" or call.more != ():
        items += list_feeders(call.script, call.simple)
    texts = [" ".join(map(str, item.words)) for item in items]
    meant = any(_SERVER.search(text) or walk.server.is_named_in(text) for text in texts)
    by_port = bool(texts) or any(map(_ON_PORT.fullmatch, argv[1:]))
    said = (
        by_port
        and _kills(call)
        and _SAID.search(walk.budget.read_again(call.script.text))
    )
    if said or meant:
        walk.report.add("guard-server", call)


def _kills(call: ProgramCall) -> bool:
    if call.name == "fuser":
        return any(word[:1] == "-" and "k" in word.lower() for word in call.argv[1:])
    return call.name not in ("npx", "bunx", "pnpx") or "kill-port" in call.argv
