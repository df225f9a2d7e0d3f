"""git runs commands of its own: aliases, editors, filters, bisect, hooks for each."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.rules.options import TAKING_VALUES
from guidance.core.shell_commands.shell.quoting import quote
from guidance.core.shell_commands.unwrap.git_refs import (
    unwrap_fetch,
    unwrap_push,
    unwrap_update_ref,
)
from guidance.core.shell_commands.walk import Handler, Walk

# Settings whose value git gives to a shell.
_RUN = (
    "core.editor",
    "core.pager",
    "core.sshcommand",
    "core.askpass",
    "core.fsmonitor",
    "sequence.editor",
    "diff.external",
    "credential.helper",
    "gpg.program",
    "uploadpack.packobjectshook",
)
_RUN_ENDINGS = (
    *(".textconv", ".clean", ".smudge", ".command", ".cmd", ".driver", ".process"),
    *(".uploadpack", ".receivepack", ".vcs", ".helper", ".program", ".sshcommand"),
)
# Options whose value is run, here or on the other side.
_RUN_OPTIONS = ("--upload-pack", "--receive-pack", "--exec")
_NAMES_OPTION = re.compile(r"--(?:upload-pack|receive-pack|exec)|ext::")
_TRANSPORT = re.compile(r"ext::(.*)", re.DOTALL)
_BLANK = re.compile(r"(?<!%) ")
_TAKING = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")


def unwrap_git(walk: Walk, call: ProgramCall) -> None:
    argv = call.argv
    if "-c" in argv:
        for index, word in enumerate(argv[:-1]):
            if word == "-c":
                _run_setting(walk, call, argv[index + 1])
    if walk.known.git_aliases and _run_alias(walk, call):
        return
    if "send-pack" in argv:
        # What push calls.
        argv = ["push" if word == "send-pack" else word for word in argv]
        call = call.replace_arguments(argv)
    elif "-M" in argv and "branch" in argv and len(find_operands(argv)) > 2:
        # Over a branch that is already there.
        walk.report.add("git-branch-delete", call)
    if _NAMES_OPTION.search(" ".join(argv)):
        _run_options(walk, call)
    if "--unsafe-paths" in argv:
        # A patch may then write anywhere.
        walk.report.add("overwrite-file", call)
    if not RUNNING.isdisjoint(argv):
        places = find_operands(argv, taking=_TAKING)
        run = _VERBS.get(argv[places[0]]) if places else None
        if run is not None:
            run(walk, call, places)
    walk.judge(call)


def _run_options(walk: Walk, call: ProgramCall) -> None:
    """Commands for the other side, which may be this machine."""
    for index, word in enumerate(call.argv[1:], 1):
        text = read_attached_value(word, *_RUN_OPTIONS)
        if word in _RUN_OPTIONS and "rebase" not in call.argv:
            text = "".join(call.argv[index + 1 : index + 2])
        if match := _TRANSPORT.match(word):
            words = _BLANK.split(match[1])
            text = " ".join(quote(each.replace("% ", " ")) for each in words)
        if text:
            via = (*call.via, f"git {word.partition('=')[0]}")
            walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)


def _run_alias(walk: Walk, call: ProgramCall) -> bool:
    """A verb that this command has made up."""
    places = find_operands(call.argv, taking=_TAKING)
    text = walk.known.git_aliases.get(call.argv[places[0]]) if places else None
    if text is None:
        return False
    rest = " ".join(call.argv[places[0] + 1 :])
    command = text[1:] if text.startswith("!") else f"git {text}"
    via = (*call.via, f"git {call.argv[places[0]]}")
    origin = walk.report.make_whole_origin(call)
    aliases, walk.known.git_aliases = walk.known.git_aliases, {}
    walk.walk_shell(f"{command} {rest}", origin=origin, via=via)
    walk.known.git_aliases = aliases
    return True


def _run_setting(walk: Walk, call: ProgramCall, text: str) -> None:
    name, _, value = text.partition("=")
    name = name.lower()
    via = (*call.via, f"git -c {name}")
    if name.startswith("alias."):
        walk.known.git_aliases[name.partition(".")[2]] = value
        text = value[1:] if value.startswith("!") else f"git {value}"
        walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)
    elif name.startswith("remote.") and name.endswith(".mirror") and value != "false":
        walk.report.add("git-push-force", call)
    elif name == "core.hookspath" and _is_elsewhere(value):
        walk.report.add_opaque("opaque-script", call)
    elif name.startswith("remote.") and name.endswith(".push") and value[:1] == "+":
        walk.report.add("git-push-force", call)
    elif name in _RUN or name.endswith(_RUN_ENDINGS):
        walk.walk_shell(
            value.lstrip("!"), origin=walk.report.make_whole_origin(call), via=via
        )


def _is_elsewhere(folder: str) -> bool:
    """Hooks that are not the project's own."""
    return folder[:1] in ("/", "~") and folder != "/dev/null"


def _unwrap_config(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    words = [call.argv[place] for place in places[1:]]
    if words[:1] in (["set"], ["--add"]):
        words = words[1:]
    if len(words) >= 2:
        _run_setting(walk, call, f"{words[0]}={words[1]}")


def unwrap_hub(walk: Walk, call: ProgramCall) -> None:
    """gh alias set: a text for a shell, or other words of gh."""
    argv = call.argv
    places = find_operands(argv, taking=TAKING_VALUES["gh"])
    verbs = [argv[place] for place in places[:2]]
    if verbs == ["alias", "set"] and len(places) > 3:
        text = argv[places[3]]
        shell = "--shell" in argv or "-s" in argv or text.startswith("!")
        text = text.lstrip("!") if shell else f"gh {text}"
        origin = walk.report.make_whole_origin(call)
        walk.walk_shell(text, origin=origin, via=(*call.via, "gh alias"))
    walk.judge(call)


def _unwrap_rebase(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    place = find_option_value(call.argv, "-x", "--exec")
    if place:
        text = read_attached_value(call.argv[place], "--exec")
        if text is None:
            walk.walk_argument(call, place, "git rebase --exec")
        else:
            via = (*call.via, "git rebase --exec")
            walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)


def _unwrap_bisect(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    if len(places) > 2 and call.argv[places[1]] == "run":
        walk.run_inner(call, places[2], "git bisect run")


def _unwrap_submodule(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    if len(places) > 2 and call.argv[places[1]] == "foreach":
        walk.walk_arguments(call, places[2], "git submodule foreach")


def _unwrap_tool(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    place = find_option_value(call.argv, "-x", "--extcmd")
    if place:
        walk.walk_argument(call, place, "git difftool")


def _unwrap_grep(walk: Walk, call: ProgramCall, places: list[int]) -> None:
    for word in call.argv:
        text = read_attached_value(word, "-O", "--open-files-in-pager")
        if text:
            via = (*call.via, "git grep -O")
            walk.walk_shell(text, origin=walk.report.make_whole_origin(call), via=via)


_VERBS = {
    "config": _unwrap_config,
    "rebase": _unwrap_rebase,
    "bisect": _unwrap_bisect,
    "submodule": _unwrap_submodule,
    "difftool": _unwrap_tool,
    "grep": _unwrap_grep,
    "fetch": unwrap_fetch,
    "pull": unwrap_fetch,
    "push": unwrap_push,
    "update-ref": unwrap_update_ref,
}
# Without one of these git runs nothing but itself.
RUNNING = frozenset(_VERBS) | {
    *("-c", "send-pack", "branch", "--unsafe-paths"),
    *("ls-remote", "archive", "fetch-pack"),
}

HANDLERS: dict[str, Handler] = {"git": unwrap_git, "gh": unwrap_hub}
