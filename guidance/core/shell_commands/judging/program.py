"""Judge one program and its arguments by the rules."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.made_again import (
    list_built_before,
    list_made_again,
)
from guidance.core.shell_commands.disposable.made_before import list_made_before
from guidance.core.shell_commands.judging.dry_runs import changes_nothing
from guidance.core.shell_commands.judging.pipelines import (
    find_fed,
    list_inputs,
    list_searched_places,
)
from guidance.core.shell_commands.judging.started_here import ends_own
from guidance.core.shell_commands.judging.throw_away import is_throw_away
from guidance.core.shell_commands.judging.unknown_wrappers import unwrap_unknown
from guidance.core.shell_commands.judging.unreached import is_unreached
from guidance.core.shell_commands.paths import (
    is_disposable,
    is_generated,
    is_plain_name,
    is_temporary,
    looks_like_file,
)
from guidance.core.shell_commands.rules import PATTERNS, WINDOWS
from guidance.core.shell_commands.rules.invocation import Invocation, sort_arguments
from guidance.core.shell_commands.rules.unknown import (
    COMPLETE,
    PLAIN,
    destroys_by_name,
    goes_beyond_tables,
)
from guidance.core.shell_commands.shell.tree import UNKNOWN
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.windows.powershell import name_temporary
from guidance.core.shell_commands.word_lists import split_names

_OWN_MACHINE = re.compile(r"https?://(?:localhost|127\.|localstack|\[::1\])")
# Where nobody writes anything by hand: a part of them comes back with the whole.
_WHOLLY_BUILT = frozenset(("dist", "build", "target", "_build", "coverage", ".next"))
_OWN_SHELL = re.compile(
    r"(?:(?:ba|z|da|k)?sh\b|\./|function |trap\Z|(?:npm|pnpm|yarn|bun|lerna) )"
)
_LISTING = frozenset(("remove-item", "ri"))
_RECURSIVE = ("-r", "-R", "--recursive")
_REMOVING = frozenset(
    ("rm", "rimraf", "del-cli", "rd", "rmdir", "remove-item", "ri", "del", "erase")
)
_INTERACTIVE = ("-i", "-I", "--interactive")
# They write what they are given to a file.
_FED = frozenset(("tee", "sponge", "out-file", "set-content"))
# They can change many files in place.
_EDITORS = split_names("sed perl ruby dos2unix unix2dos exiftool mogrify")
_CONFIRMING = frozenset(("terraform", "terragrunt"))
_LAST_WINS = frozenset(("rm", "srm", "mv", "cp"))
# Programs that do nothing without a subcommand, so one that is not known matters.
LED = split_names("git kubectl docker podman helm terraform pulumi aws gcloud az gh")
_VERSION = ("--version", "-version")


def judge_program(walk: Walk, call: ProgramCall) -> None:
    program = PATTERNS.get(call.name)
    argv = call.argv
    if program is None:
        if call.name in PLAIN:
            return
        if destroys_by_name(sort_arguments(call.name, argv)):
            walk.report.add("unknown-destroying-verb", call)
        unwrap_unknown(walk, call)
        return
    if len(argv) > 1 and argv[1] in _VERSION:
        return
    led, slashes = call.name in LED, call.name in WINDOWS
    if slashes:
        argv = [
            part
            for word in walk.report.get_raw_words(call)
            for part in _split_list(word, call.name)
        ]
        if walk.known.temporary:
            argv = [name_temporary(word, walk.known.temporary) for word in argv]
    elif not program.concerns(argv) and not (led and _has_unknown(argv)):
        return
    folder = walk.known.folder
    found = sort_arguments(call.name, argv, folder=folder, slashes=slashes)
    found.moved, found.linked = walk.known.moved, walk.known.linked
    # Through a wrapper it may be another machine or user that deletes.
    found.made, found.left = walk.known.made, walk.known.left or bool(call.via)
    found.disposable = walk.disposable
    if call.name == "find" and not call.via and "-delete" in argv:
        found.disposable |= list_made_again(call.script, call.simple, walk.known)
    if call.name in _REMOVING and (call.name != "rm" or _is_local(call)):
        _list_loop_values(walk, call, found)
        _take_recursion_as_meant(walk, call, found)
    if call.more is None:
        found.open_ended = True
    elif call.more:
        found.more = call.more
        found.operands += call.more
        found.sure += call.more
    if call.name in _EDITORS:
        found.operands += list_searched_places(walk, call)
    if changes_nothing(found) or _is_emulated(call, found):
        return
    if led and any(UNKNOWN in word for word in found.sure[:1] or found.operands[:1]):
        walk.report.add_opaque("opaque-argument", call)
        return
    if found.flags and _asks_nobody(walk, call, found):
        for flag in _INTERACTIVE:
            found.flags.pop(flag, None)
    if (
        call.name in _CONFIRMING and call.simple.stage is not None
    ) or call.name == "ssh-keygen":
        found.answered = _is_answered(walk, call)
    elif call.name in _FED:
        found.fed = find_fed(walk, call)
        found.inputs = list_inputs(call.script, call.simple)
    pattern = program.match(found)
    if pattern is None:
        if (
            program.is_led
            and call.name not in COMPLETE
            and goes_beyond_tables(found)
            and not ends_own(walk, call)
        ):
            walk.report.add("unknown-destroying-verb", call)
        return
    if pattern.verbs and _is_help(found):
        return
    if (
        is_throw_away(pattern.rule.name, walk, call, found)
        or ends_own(walk, call)
        or (
            call.via
            and is_unreached(call.script.text, call.simple.start, walk.known.positional)
        )
    ):
        return
    if pattern.rule.name.startswith("opaque"):
        walk.report.add_opaque(pattern.rule.name, call)
    else:
        walk.report.add(pattern.rule.name, call)


def _is_local(call: ProgramCall) -> bool:
    """Run here and by the same user, be it in a script or a function of its own."""
    return all(_OWN_SHELL.match(via) for via in call.via)


def _split_list(word: str, name: str) -> list[str]:
    """PowerShell: `Remove-Item bin, obj` and `bin,obj`."""
    if "," not in word or name not in _LISTING or "'" in word or '"' in word:
        return [word]
    return [part for part in word.split(",") if part]


def _list_loop_values(walk: Walk, call: ProgramCall, found: Invocation) -> None:
    """`for d in build dist; do rm -rf "$d"; done`: each of them is removed."""
    if len(found.operands) != 1 or found.operands[0] != UNKNOWN:
        return
    values = walk.known.list_alternatives(call.simple.words[-1])
    if values and all(isinstance(each, str) and UNKNOWN not in each for each in values):
        found.operands[:] = [each for each in values if isinstance(each, str)]


def _take_recursion_as_meant(walk: Walk, call: ProgramCall, found: Invocation) -> None:
    """`rm -rf` of files is `rm`, and of what is built again at once no loss."""
    if (
        call.name == "rm"
        and found.flags.keys().isdisjoint(_RECURSIVE)
        and not any("*" in path for path in found.operands)
    ):
        return
    rest = [path for path in found.operands if not _is_kept_out(found, path)]
    if not rest:
        return
    again = list_made_again(call.script, call.simple, walk.known)
    again |= list_built_before(call.script, call.simple, walk.known)
    before = list_made_before(call.script, call.simple, walk.budget)
    written = {
        path
        for path in rest
        if (again and _is_in(path, again))
        or (
            path.removeprefix("./").rstrip("/") in before
            and is_plain_name(path.removeprefix("./").removeprefix("."))
        )
    }
    if written:
        found.made = {*found.made, *written, *(each[2:] for each in written)}
    if written.issuperset(path for path in rest if not looks_like_file(path)):
        for flag in _RECURSIVE:
            found.flags.pop(flag, None)


def _is_kept_out(found: Invocation, path: str) -> bool:
    """No loss, whatever is done to it."""
    return is_temporary(path, folder=found.folder) or is_disposable(
        path, found.disposable
    )


def _is_in(path: str, folders: frozenset[str]) -> bool:
    """One of these folders, in the working folder or in a part of it."""
    path = path.replace("\\", "/").removeprefix("./").rstrip("/").replace("//", "/")
    folder, _, last = path.rpartition("/")
    folder = folder.replace("/*", "")
    known = is_generated(last) or ("*" in last and last in folders)
    if known and (not folder or is_plain_name(folder)):
        return True
    plain = path.replace("/*/", "/").removeprefix("*/")
    return is_plain_name(plain.lstrip("_.")) and (
        path in folders
        or path.rpartition("/")[2] in folders
        or not folders.isdisjoint(_WHOLLY_BUILT.intersection(path.split("/")[:-1]))
    )


def _is_emulated(call: ProgramCall, found: Invocation) -> bool:
    """A cloud on one's own machine, such as tests use."""
    place = found.flags.get("--endpoint-url", "")
    if not place and call.name == "aws":
        for assignment in call.simple.assignments:
            if assignment.name == "AWS_ENDPOINT_URL":
                place = assignment.value if isinstance(assignment.value, str) else ""
    return bool(place) and _OWN_MACHINE.match(place) is not None


def _has_unknown(argv: list[str]) -> bool:
    return any(UNKNOWN in word for word in argv)


def _is_help(found: Invocation) -> bool:
    """`tool help delete` only explains."""
    return found.operands[:1] == ["help"]


def _asks_nobody(walk: Walk, call: ProgramCall, found: Invocation) -> bool:
    """Prompts are answered by a pipe (`yes | rm -i`) or taken back (`rm -If`)."""
    if not any(flag in found.flags for flag in _INTERACTIVE):
        return False
    if call.name in _LAST_WINS and _find_last_prompt(call.argv) == "f":
        return True
    return call.simple.stage is not None and _is_answered(walk, call)


def _is_answered(walk: Walk, call: ProgramCall) -> bool:
    content = walk.find_stdin(call)
    return content is not None and content.text[:1] in ("y", "Y")


def _find_last_prompt(argv: list[str]) -> str:
    """The last letter of -i, -I and -f: it is the one that counts."""
    last = ""
    for word in argv[1:]:
        if word == "--":
            break
        if word[:2] == "--":
            last = {"--force": "f", "--interactive": "i"}.get(word, last)
        elif word[:1] == "-":
            last = next((letter for letter in word[:0:-1] if letter in "iIf"), last)
    return last
