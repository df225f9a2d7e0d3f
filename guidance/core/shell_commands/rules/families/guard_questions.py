"""The conditions of rules about the guard itself."""

from __future__ import annotations

import re
from itertools import pairwise

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.word_lists import split_names

_BYPASS = re.compile(
    r"--dangerously-\S*|--allow-dangerously-\S*|--yolo|bypasspermissions|--permission-mode=bypass\S*|danger-full-access"
    r"|--full-auto|--approval-mode=(?:yolo|never)|--ask-for-approval=never|approval_policy\W{1,3}never\W?|sandbox_mode\W{1,3}danger\S*"
    r"|--yes-always|--no-confirm|--allow-all-tools|--allow-all|--dangerous\S*|--skip-permissions\S*|--no-hooks|--disable-hooks|--setting-sources(?:=.*)?|--bare|--settings(?:=.*)?",
    re.IGNORECASE,
)
_PAIRED = {
    "--permission-mode": ("bypasspermissions",),
    "--approval-mode": ("yolo", "never"),
    "-a": ("never",),
    "--ask-for-approval": ("never",),
    "-s": ("danger-full-access",),
    "--sandbox": ("danger-full-access",),
}
# Words of `checkrail` that only show something, and things that it can show or change.
_SHOWING = split_names(
    "queue show runs run tail doctor verify mcp hook status version help list ls get view "
    "describe export history log logs whoami info docs check ping health search watch diff "
    "wait halts"
)
_THINGS = split_names(
    "review reviews request requests policy policies rule rules permission permissions "
    "call calls agent agents exemption exemptions allowlist pending config settings ledger"
)
# Other rules say more about these.
_TOLD = split_names(
    "approve amend deny answer skip retry abort rule ruling reopen halt release tell login "
    "logout token tokens down stop kill restart shutdown"
)
_OTHER_CLIENT = re.compile(
    r"checkrail(?:\[\w,]*\])?\s*(?:==|<|@|~=).*|.*[/@:].*checkrail.*", re.IGNORECASE
)
_ID = re.compile(r"[0-9a-f-]{1,40}")


def _bypasses(found: Invocation) -> bool:
    argv = found.argv[1:]
    if any(map(_BYPASS.fullmatch, argv)):
        return True
    if found.name in ("gemini", "qwen") and "-y" in argv:
        return True
    if found.name == "cursor-agent" and {"-f", "--force"} & set(argv):
        return True
    return any(
        word in _PAIRED and following.lower() in _PAIRED[word]
        for word, following in pairwise(argv)
    )


def _changes_guard(found: Invocation) -> bool:
    """A word of `checkrail` that does not only show something, known or not."""
    words = [word.lower() for word in found.sure or found.operands]
    if not words or words[0] in _SHOWING or words[0] in _TOLD:
        return False
    if words[0] not in _THINGS:
        return True
    return not all(word in _SHOWING or _ID.fullmatch(word) for word in words[1:])


def _installs_other_client(found: Invocation) -> bool:
    """An old one, or one from another place."""
    return any(map(_OTHER_CLIENT.fullmatch, found.operands[1:]))


def _names_guard(found: Invocation) -> bool:
    return any(
        "checkrail" in word.lower() or "manage.py up" in word for word in found.argv[1:]
    )


def _uses_guard_port(found: Invocation) -> bool:
    return any(map(found.server.is_port, found.argv[1:]))


QUESTIONS: dict[str, Question] = {
    "bypasses": _bypasses,
    "changes-guard": _changes_guard,
    "guard-here": _names_guard,
    "guard-port": _uses_guard_port,
    "names-guard": _names_guard,
    "other-client": _installs_other_client,
}
