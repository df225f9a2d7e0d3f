"""Programs that nobody has described, where their arguments hold a command or a program."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.code.interpreters import scan_content
from guidance.core.shell_commands.code.other_languages import OTHER
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.program_options import read_attached_value
from guidance.core.shell_commands.rules.unknown import PLAIN
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import RUN_BY_OTHERS

# Options whose value is most often a command or a program.
_TEXTS = (
    *("-c", "-e", "-x", "-g", "--command", "--cmd", "--exec", "--execute", "--eval"),
    *("--run", "--call", "--shell", "--goal", "-eval", "-exec", "-cmd", "-command"),
)
# A call with something in quotes.
_CALL = re.compile(r"\(\s*[\"']")
_TEX_SHELL = "\\write18"


def unwrap_unknown(walk: Walk, call: ProgramCall) -> None:
    """The first word that is a program, texts after usual options, and files in its words."""
    if call.name in PLAIN or walk.is_known(call.name):
        return
    argv = call.argv
    _walk_texts(walk, call, argv)
    _scan_substituted(walk, call, argv)
    if place := _find_program(walk, argv):
        walk.run_inner(call, place, call.name)


def _find_program(walk: Walk, argv: list[str]) -> int:
    """Where a command begins, 0 if there is none."""
    if "--" in argv[1:-1]:
        place = argv.index("--", 1) + 1
        if walk.is_known(resolve_program(argv[place])):
            return place
    for place, word in enumerate(argv[1:-1], 1):
        if resolve_program(word) in RUN_BY_OTHERS:
            return place
    return 0


def _walk_texts(walk: Walk, call: ProgramCall, argv: list[str]) -> None:
    for index, word in enumerate(argv[1:], 1):
        if _TEX_SHELL in word:
            scan_content(walk, call, Content(word), OTHER)
        if word[:1] != "-":
            continue
        text = read_attached_value(word, *_TEXTS)
        if word in _TEXTS and index + 1 < len(argv):
            text = argv[index + 1]
        if not text or not text.strip():
            continue
        first = resolve_program(text.split()[0])
        if first in RUN_BY_OTHERS and " " in text:
            origin = walk.report.make_whole_origin(call)
            walk.walk_shell(text, origin=origin, via=(*call.via, f"{call.name} {word}"))
        elif _CALL.search(text):
            scan_content(walk, call, Content(text), OTHER)


def _scan_substituted(walk: Walk, call: ProgramCall, argv: list[str]) -> None:
    """`tool -f <(echo text)`: the text is a program in the tool's own language."""
    for word in argv[1:]:
        if word.startswith("/dev/fd/"):
            content = walk.known.get_file(word)
            if content is not None and not content.opaque:
                scan_content(walk, call, content, OTHER)
