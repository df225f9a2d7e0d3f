"""Variables of the environment whose value other programs run, or begin with."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.paths import is_own_file
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.tree import Assignment
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# Their value is a command line.
_RUN = split_names(
    "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR "
    "GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS PROMPT_COMMAND EDITOR VISUAL PAGER MANPAGER "
    "BROWSER LESSOPEN LESSCLOSE FZF_DEFAULT_COMMAND CC CXX CPP LD AR MAKE "
    "RUSTC_WRAPPER CARGO_BUILD_RUSTC_WRAPPER KUBE_EDITOR OC_EDITOR SYSTEMD_EDITOR "
    "SUDO_EDITOR"
)
# Programs that change a file without anybody looking at it, in the place of an editor.
_EDITORS = split_names("EDITOR VISUAL KUBE_EDITOR OC_EDITOR")
_SCRIPTED = split_names(
    "sed perl ruby awk python node jq yq ed ex cp mv tee dd truncate patch sh bash"
)
# They edit what runs just now, and put it into force when the editor is done.
_LIVE_EDIT = re.compile(r"\b(?:kubectl|oc|k|virsh)\b[^;|&\n]{0,120}\bedit\b")
# Texts in which a shell substitutes commands before it shows them.
_PROMPTS = ("PS0", "PS1", "PS2", "PS4", "RPROMPT")
# Files that a shell reads before anything else.
_STARTING = ("BASH_ENV", "ENV")
_READING_ENV = ("sh", "dash", "ksh", "ash", "busybox")
# Libraries that every program loads.
_PRELOADED = ("LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES")
# Options and files with which an interpreter loads a program before the one it is given.
_LOADING = ("PERL5OPT", "RUBYOPT", "NODE_OPTIONS", "PYTHONSTARTUP", "JAVA_TOOL_OPTIONS")
_LOADS_OWN = re.compile(
    r"(?:^|\s)-(?:M|r\s*\.{0,2}/|-(?:require|import|loader)[= ]\s*\.{0,2}/|javaagent:)"
)
_NAMES = _RUN | {*_LOADING} | {*_PROMPTS, *_STARTING, *_PRELOADED}
_TERRAFORM = re.compile(r"TF_CLI_ARGS(?:_(\w+))?")
_EXPORTED = re.compile(r"BASH_FUNC_([^%(=]+)(?:%%|\(\))\Z")


def is_run(name: str) -> bool:
    """Quickly: could anything run the value of this variable?"""
    return name in _NAMES or name.startswith(
        ("TF_CLI_ARGS", "BASH_FUNC_", "CHECKRAIL_")
    )


def follow_setting(walk: Walk, call: ProgramCall, assignment: Assignment) -> None:
    """A variable is set, for one command or for all that follow."""
    if isinstance(assignment.value, list):
        return
    name, value = assignment.name, walk.known.expand_word(assignment.value)
    origin = walk.report.make_whole_origin(call)
    via = (*call.via, name)
    if name.startswith("CHECKRAIL_"):
        # Whoever runs with it asks somebody else, or nobody.
        walk.report.add_whole("guard-environment", call)
    elif name in _RUN:
        walk.walk_shell(value, origin=origin, via=via)
        if name in _EDITORS and _edits_unseen(value, call.script.text):
            walk.report.add_opaque("opaque-script", call)
    elif name in _PROMPTS:
        if "$(" in value or "`" in value:
            walk.walk_shell(f": {value}", origin=origin, via=via)
    elif name in _STARTING:
        content = walk.known.get_file(value)
        if content is not None:
            walk.walk_content(content, call, name)
        elif _is_read_at_start(name, value, call):
            walk.report.add_opaque("opaque-preload", call)
    elif name in _PRELOADED:
        if any(is_own_file(path) for path in re.split(r"[: ]", value)):
            walk.report.add_opaque("opaque-preload", call)
    elif name in _LOADING:
        if (name == "PYTHONSTARTUP" and value) or _LOADS_OWN.search(value):
            walk.report.add_opaque("opaque-preload", call)
    elif terraform := _TERRAFORM.fullmatch(name):
        text = f"terraform {terraform[1] or 'apply'} {value}"
        walk.walk_shell(text, origin=origin, via=via)
    elif exported := _EXPORTED.match(name):
        # A function that the next shell already has: it may be called by any name.
        text = f"{exported[1]} {value}; {exported[1]}"
        walk.walk_shell(text, origin=origin, via=via)


def _edits_unseen(editor: str, script: str) -> bool:
    """`KUBE_EDITOR="sed -i …" kubectl edit`."""
    words = editor.split()
    return (
        bool(words)
        and resolve_program(words[0]) in _SCRIPTED
        and _LIVE_EDIT.search(script) is not None
    )


def _is_read_at_start(name: str, path: str, call: ProgramCall) -> bool:
    """bash reads BASH_ENV, whoever starts it; ENV is a name that many others use. What a
    person's own shell reads anyway is nothing new."""
    if not is_own_file(path) or path.startswith("~/."):
        return False
    words = call.simple.words
    first = words[0] if words else ""
    return name == "BASH_ENV" or (
        isinstance(first, str) and resolve_program(first) in _READING_ENV
    )
