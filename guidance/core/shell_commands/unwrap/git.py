"""git runs commands of its own: aliases, editors, filters, bisect, hooks for each."""

from __future__ import annotations

from guidance.core.shell_commands.call import Call
from guidance.core.shell_commands.program_options import glued, operands, value_of
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
_TAKING = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env")


def git(walk: Walk, call: Call) -> None:
    argv = call.argv
    if "-c" in argv:
        for index, word in enumerate(argv[:-1]):
            if word == "-c":
                _setting(walk, call, argv[index + 1])
    if not RUNNING.isdisjoint(argv):
        places = operands(argv, taking=_TAKING)
        run = _VERBS.get(argv[places[0]]) if places else None
        if run is not None:
            run(walk, call, places)
    walk.judge(call)


def _setting(walk: Walk, call: Call, text: str) -> None:
    name, _, value = text.partition("=")
    name = name.lower()
    via = (*call.via, f"git -c {name}")
    if name.startswith("alias.") and value.startswith("!"):
        walk.shell(value[1:], origin=walk.whole(call), via=via)
    elif name in _RUN or name.endswith((".textconv", ".clean", ".smudge", ".command")):
        walk.shell(value.lstrip("!"), origin=walk.whole(call), via=via)


def _config(walk: Walk, call: Call, places: list[int]) -> None:
    words = [call.argv[place] for place in places[1:]]
    if words[:1] in (["set"], ["--add"]):
        words = words[1:]
    if len(words) >= 2:
        _setting(walk, call, f"{words[0]}={words[1]}")


def _rebase(walk: Walk, call: Call, places: list[int]) -> None:
    place = value_of(call.argv, "-x", "--exec")
    if place:
        text = glued(call.argv[place], "--exec")
        if text is None:
            walk.argument(call, place, "git rebase --exec")
        else:
            via = (*call.via, "git rebase --exec")
            walk.shell(text, origin=walk.whole(call), via=via)


def _bisect(walk: Walk, call: Call, places: list[int]) -> None:
    if len(places) > 2 and call.argv[places[1]] == "run":
        walk.inner(call, places[2], "git bisect run")


def _submodule(walk: Walk, call: Call, places: list[int]) -> None:
    if len(places) > 2 and call.argv[places[1]] == "foreach":
        walk.arguments(call, places[2], "git submodule foreach")


def _tool(walk: Walk, call: Call, places: list[int]) -> None:
    place = value_of(call.argv, "-x", "--extcmd")
    if place:
        walk.argument(call, place, "git difftool")


def _grep(walk: Walk, call: Call, places: list[int]) -> None:
    for word in call.argv:
        text = glued(word, "-O", "--open-files-in-pager")
        if text:
            via = (*call.via, "git grep -O")
            walk.shell(text, origin=walk.whole(call), via=via)


_VERBS = {
    "config": _config,
    "rebase": _rebase,
    "bisect": _bisect,
    "submodule": _submodule,
    "difftool": _tool,
    "grep": _grep,
}
# Without one of these git runs nothing but itself.
RUNNING = frozenset(_VERBS) | {"-c"}

HANDLERS: dict[str, Handler] = {"git": git}
