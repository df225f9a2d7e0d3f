"""Variables that tell the guard where it is, or an agent where its settings are."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

_VARIABLE = re.compile(
    r"CHECKRAIL_\w+|CLAUDE_CONFIG_DIR|CODEX_HOME|CLAUDE_CODE_DISABLE_HOOKS|DISABLE_HOOKS"
    # What tells that a program runs inside a session.
    r"|CLAUDECODE|CLAUDE_CODE_ENTRYPOINT|CODEX_THREAD_ID|CODEX_SANDBOX"
)
_RUNNING_AGENT = split_names(
    "claude codex gemini cursor-agent amp opencode copilot qwen goose npx bunx checkrail"
)
# Where an agent looks for its settings, if nothing else is said.
_MOVED_HOME = split_names("HOME USERPROFILE XDG_CONFIG_HOME APPDATA")
# Those that a program of the same name may stand in for.
_STOOD_IN_FOR = split_names("checkrail claude codex gemini")
_SETTING = split_names(
    "export declare typeset unset setx set readonly env sudo launchctl systemctl"
)
_SETTING_VERBS = split_names(
    "setenv unsetenv set-environment unset-environment import-environment"
)
_TAKING_AWAY = ("-u", "-n", "--unset")


def is_guard_variable(name: str) -> bool:
    return _VARIABLE.fullmatch(name) is not None


def judge_guard_setting(walk: Walk, call: ProgramCall) -> None:
    """Variables set before a command, or alone."""
    for assignment in call.simple.assignments:
        if _VARIABLE.fullmatch(assignment.name):
            running = not call.argv or call.name in _RUNNING_AGENT
            if assignment.name.startswith("CHECKRAIL_") or running:
                walk.report.add_whole("guard-environment", call)
                return
        elif (assignment.name in _MOVED_HOME and call.name in _RUNNING_AGENT) or (
            assignment.name == "PATH" and call.name in _STOOD_IN_FOR
        ):
            walk.report.add_whole("guard-environment", call)
            return


def judge_variables(walk: Walk, call: ProgramCall) -> None:
    """Variables set or taken away by a builtin, or by `env`."""
    name, argv = call.name, call.argv
    if name not in _SETTING:
        return
    for index, word in enumerate(argv[1:], 1):
        variable, equals, _ = word.partition("=")
        variable = variable.removeprefix("-u").removeprefix("--unset")
        changed = (
            equals
            or name in ("unset", "setx")
            or not _SETTING_VERBS.isdisjoint(argv[1:3])
            or argv[index - 1] in _TAKING_AWAY
            or word.startswith("-u")
        )
        if changed and _VARIABLE.fullmatch(variable.strip("= ")):
            walk.report.add("guard-environment", call)
            return
