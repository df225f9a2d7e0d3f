"""Containers, volumes and networks that the command itself makes and takes away again."""

from __future__ import annotations

from itertools import pairwise

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.outputs import MADE_CONTAINER
from guidance.core.shell_commands.program_options import (
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import ScriptState
from guidance.core.shell_commands.walk import Walk

_KINDS = ("container", "volume", "network", "image", "buildx")
_MAKING = ("run", "create")
_BUILDING = ("build", "tag")
_UNSAID = {"rmi": "image"}
_REMOVING = ("rm", "remove", "rmi", "stop", "kill")


def is_own_container(known: ScriptState, argv: list[str]) -> bool:
    """Follow what is made, and tell whether only that is removed."""
    place = _find_verb(argv)
    if not place:
        return False
    verb = argv[place]
    kind = (
        argv[place - 1] if argv[place - 1] in _KINDS else _UNSAID.get(verb, "container")
    )
    # What is made on one machine is not removed on another.
    where = tuple(argv[1 : place - (argv[place - 1] in _KINDS)])
    names = [word for word in argv[place + 1 :] if word[:1] != "-"]
    if verb in _BUILDING:
        known.containers.update((*where, "image", name) for name in _list_tags(argv))
        return False
    if verb in _MAKING:
        if kind == "container":
            option = find_option_value(argv, "--name")
            names = [argv[option]] if option else []
            names = [read_attached_value(name, "--name") or name for name in names]
        known.containers.update((*where, kind, name) for name in names[-1:])
        return False
    return bool(names) and all(
        name == MADE_CONTAINER or (*where, kind, name) in known.containers
        for name in names
    )


def _list_tags(argv: list[str]) -> list[str]:
    """docker build -t name, docker tag image name."""
    if "tag" in argv:
        return argv[-1:]
    return [
        value
        for option, value in pairwise(argv)
        if option in ("-t", "--tag") and value[:1] != "-"
    ]


def unwrap_cluster(walk: Walk, call: ProgramCall) -> None:
    """kind and k3d: a cluster that the same command has made may go."""
    argv = call.argv
    words = [word for word in argv[1:] if word[:1] != "-"]
    option = find_option_value(argv, "--name", "-n")
    name = argv[option] if option else "".join(words[2:3])
    key = (call.name, "cluster", read_attached_value(name, "--name", "-n") or name)
    verbs = set(words[:2])
    if verbs == {"create", "cluster"}:
        walk.known.containers.add(key)
    elif verbs != {"delete", "cluster"} or key not in walk.known.containers:
        walk.judge(call)


def _find_verb(argv: list[str]) -> int:
    """The place of the verb, 0 if it is none of these."""
    for place in range(1, min(len(argv), 8)):
        word = argv[place]
        if word in _MAKING or word in _REMOVING or word in _BUILDING:
            return place
        led = word[:1] != "-" and argv[place - 1][:1] != "-"
        if word == "compose" or (led and word not in _KINDS):
            return 0
    return 0
