"""Judge one program and its arguments by the rules."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.rules import PATTERNS, WINDOWS
from guidance.core.shell_commands.rules.invocation import Invocation, sort_arguments
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

_INTERACTIVE = ("-i", "-I", "--interactive")
# Programs that do nothing without a subcommand, so one that is not known matters.
LED = split_names("git kubectl docker podman helm terraform pulumi aws gcloud az gh")
_HELP = ("--help", "--version", "/?")


def judge_program(walk: Walk, call: ProgramCall) -> None:
    program = PATTERNS.get(call.name)
    argv = call.argv
    if program is None or (len(argv) > 1 and argv[1] in _HELP):
        return
    led, slashes = call.name in LED, call.name in WINDOWS
    if slashes:
        argv = walk.report.get_raw_words(call)
    elif not program.concerns(argv) and not (led and _has_unknown(argv)):
        return
    folder = walk.known.folder
    found = sort_arguments(call.name, argv, folder=folder, slashes=slashes)
    found.moved, found.linked = walk.known.moved, walk.known.linked
    # Through a wrapper it may be another machine or user that deletes.
    found.made, found.left = walk.known.made, walk.known.left or bool(call.via)
    found.disposable = walk.disposable
    if call.more is None:
        found.open_ended = True
    elif call.more:
        found.more = call.more
        found.operands += call.more
        found.sure += call.more
    if led:
        if argv[-1] == "--help":
            return
        if found.sure and UNKNOWN in found.sure[0]:
            walk.report.add_opaque("opaque-argument", call)
            return
    if call.simple.stage is not None:
        _drop_answered_prompts(walk, call, found)
    pattern = program.match(found)
    if pattern is None:
        return
    if pattern.rule.name.startswith("opaque"):
        walk.report.add_opaque(pattern.rule.name, call)
    else:
        walk.report.add(pattern.rule.name, call)


def _has_unknown(argv: list[str]) -> bool:
    return any(UNKNOWN in word for word in argv)


def _drop_answered_prompts(walk: Walk, call: ProgramCall, found: Invocation) -> None:
    """`yes | rm -i` asks nobody."""
    if not any(flag in found.flags for flag in _INTERACTIVE):
        return
    content = walk.find_stdin(call)
    if content is not None and content.text[:1] in ("y", "Y"):
        for flag in _INTERACTIVE:
            found.flags.pop(flag, None)
