"""Shells inside shells: what they are given as a text is read as a text."""

from __future__ import annotations

from itertools import pairwise

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.outputs import PRINTING
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.program_options import (
    find_operands,
    find_option_value,
    read_attached_value,
)
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.shell.patterns import VARIABLES
from guidance.core.shell_commands.shell.tree import (
    UNKNOWN,
    Assignment,
    Simple,
    Substitution,
    Word,
)
from guidance.core.shell_commands.unwrap.settings import follow_setting, is_run
from guidance.core.shell_commands.unwrap.wrappers import unwrap_wrapper
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import split_names

SHELLS = split_names(
    "sh bash zsh dash ksh mksh ash fish csh tcsh rbash yash elvish nu xonsh oil osh ysh"
)
_TAKING = ("--rcfile", "--init-file", "--init-command")
_STDIN = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

# Programs made to be evaluated: they print settings, not commands of anybody's choice.
_SETUP = {
    "ssh-agent": (),
    "gpg-agent": (),
    "keychain": (),
    "dircolors": (),
    "direnv": ("hook", "export"),
    "pyenv": ("init", "virtualenv-init"),
    "rbenv": ("init",),
    "nodenv": ("init",),
    "jenv": ("init",),
    "goenv": ("init",),
    "fnm": ("env",),
    "mise": ("activate", "env"),
    "asdf": ("exec-env",),
    "brew": ("shellenv",),
    "opam": ("env",),
    "conda": ("shell.bash", "shell.zsh", "shell.posix"),
    "micromamba": ("shell",),
    "starship": ("init",),
    "zoxide": ("init",),
    "atuin": ("init",),
    "thefuck": ("--alias",),
    "minikube": ("docker-env", "podman-env", "-p"),
    "docker-machine": ("env",),
    "luarocks": ("path",),
    "register-python-argcomplete": (),
    "kubectl": ("completion",),
    "helm": ("completion",),
    "gh": ("completion",),
    "pip": ("completion",),
    "poetry": ("completions", "env"),
    "npm": ("completion",),
    "rustup": ("completions",),
    "vcpkg": ("integrate",),
    "lesspipe": (),
    "resize": (),
    "locale": (),
}


_SETUP_VERBS = split_names(
    "completion completions init hook activate env alias integration"
)


def unwrap_shell(walk: Walk, call: ProgramCall) -> None:
    argv = call.argv
    script = reading = checking = False
    index = 1
    while index < len(argv):
        word = argv[index]
        if word == "--" or word[:1] not in ("-", "+") or word == "-":
            index += word == "--"
            break
        index += 1
        if word[1:2] == "-":
            script = script or word in ("--command", "--commands")
            checking = checking or word == "--no-execute"
            index += word in _TAKING
            continue
        script = script or (word[0] == "-" and "c" in word)
        reading = reading or (word[0] == "-" and "s" in word)
        if "n" in word:
            # Read, not run; +n takes it back.
            checking = word[0] == "-"
        # The name of a setting follows -o, also at the end of a bundle.
        index += word[-1] in "oO"
    if checking:
        return
    if script and index < len(argv):
        _run_positional(walk, call, index, f"{call.name} -c", argv[index + 2 :])
    elif script:
        if call.more is None:
            walk.report.add_opaque("opaque-script", call)
    elif index < len(argv) and not reading:
        run_file(walk, call, index)
    else:
        content = walk.find_stdin(call)
        if content is not None:
            walk.walk_content(content, call, call.name)


def _run_positional(
    walk: Walk, call: ProgramCall, place: int, via: str, arguments: list[str]
) -> None:
    before = walk.known.positional
    walk.known.positional = tuple(arguments)
    walk.walk_argument(call, place, via)
    walk.known.positional = before


def run_file(walk: Walk, call: ProgramCall, place: int) -> None:
    """A script file: only what this command itself wrote can be read."""
    path = call.argv[place]
    content: Content | None
    if path in _STDIN:
        content = walk.find_stdin(call)
    else:
        content = walk.known.get_file(path)
    if content is None:
        return
    before = walk.known.positional
    walk.known.positional = tuple(call.argv[place + 1 :])
    walk.walk_content(content, call, f"{call.name} {path}".replace(UNKNOWN, "…"))
    walk.known.positional = before


def unwrap_eval(walk: Walk, call: ProgramCall) -> None:
    if len(call.argv) < 2 or _is_setup(call):
        return
    walk.walk_arguments(call, 1, call.name)


def _is_setup(call: ProgramCall) -> bool:
    """`eval "$(ssh-agent -s)"` and its like."""
    simple = _find_substitution(call)
    if simple is None or not all(isinstance(word, str) for word in simple.words):
        return False
    words = [str(word) for word in simple.words]
    if not words:
        return False
    name = resolve_program(words[0])
    if simple.stage is not None or name in PRINTING:
        return False
    if name not in _SETUP:
        return _is_setup_by_verb(words)
    expected = _SETUP[name]
    return not expected or any(word in words[1:3] for word in expected)


def _is_setup_by_verb(words: list[str]) -> bool:
    """`tool completion bash`, `tool init zsh`: what the program prints is its own code."""
    return any(verb in words[1:3] for verb in ("shellenv", "shell-init")) or any(
        verb in _SETUP_VERBS and shell.removeprefix("--shell=") in SHELLS
        for verb, shell in pairwise(words[1:5])
    )


def _find_substitution(call: ProgramCall) -> Simple | None:
    words = call.simple.words[1:]
    if len(words) != 1 or not isinstance(words[0], Word):
        return None
    pieces = [piece for piece in words[0].pieces if piece != ""]
    if len(pieces) != 1 or not isinstance(pieces[0], Substitution):
        return None
    items = pieces[0].script.items
    if len(items) != 1 or not isinstance(items[0], Simple):
        return None
    return items[0]


def unwrap_source(walk: Walk, call: ProgramCall) -> None:
    if len(call.argv) > 1:
        simple = _find_substitution(call)
        if simple is not None and _is_setup(call):
            return
        run_file(walk, call, 1)


def unwrap_trap(walk: Walk, call: ProgramCall) -> None:
    """Its text is read when a signal comes: with the values of now, or with later ones."""
    places = find_operands(call.argv)
    if len(places) < 2 or call.argv[places[0]] in ("-", ""):
        return
    named = VARIABLES.findall(call.argv[places[0]])
    if call.argv[places[0]].strip() in walk.known.functions:
        # What it uses may be given later.
        walk.later.append((call, places[0], "trap"))
        return
    if all(name in walk.known.variables for name in named):
        walk.walk_argument(call, places[0], "trap")
    if named:
        walk.later.append((call, places[0], "trap"))


def unwrap_su(walk: Walk, call: ProgramCall) -> None:
    """su and runuser: a text after -c, or a shell that reads its input."""
    place = find_option_value(call.argv, "-c", "--command", "--session-command")
    if place:
        walk.walk_argument(call, place, f"{call.name} -c")
        return
    if call.name == "runuser":
        for index in find_operands(
            call.argv, taking=("-u", "--user", "-g", "-G", "-s")
        ):
            walk.run_inner(call, index, call.name)
            return
    content = walk.find_stdin(call)
    if content is not None:
        walk.walk_content(content, call, call.name)


def unwrap_group(walk: Walk, call: ProgramCall) -> None:
    """sg group -c text, sg group text."""
    place = find_option_value(call.argv, "-c")
    places = find_operands(call.argv)
    if place or len(places) > 1:
        walk.walk_argument(call, place or places[1], call.name)


def unwrap_binding(walk: Walk, call: ProgramCall) -> None:
    """bind -x: a key that runs a text."""
    place = find_option_value(call.argv, "-x")
    if place:
        text = call.argv[place].partition(":")[2].strip(" \"'")
        origin = walk.report.make_whole_origin(call)
        walk.walk_shell(text, origin=origin, via=(*call.via, "bind -x"))


_TAKEN_BY_ENV = (
    "-u",
    "--unset",
    "-C",
    "--chdir",
    "-a",
    "--argv0",
    "-S",
    "--split-string",
)


def unwrap_env(walk: Walk, call: ProgramCall) -> None:
    """env, which can also split a text into words."""
    for index, word in enumerate(call.argv[1:], 1):
        name, equals, value = word.partition("=")
        if not equals and word[:1] != "-" and call.argv[index - 1] not in _TAKEN_BY_ENV:
            # What follows is the command's own.
            break
        if equals and is_run(name):
            follow_setting(walk, call, Assignment(name, value))
        if word in ("-S", "--split-string") and index + 1 < len(call.argv):
            walk.walk_arguments(call, index + 1, "env -S")
            return
        text = read_attached_value(word, "-S", "--split-string")
        if text is not None:
            walk.walk_shell(
                text,
                origin=walk.report.make_whole_origin(call),
                via=(*call.via, "env -S"),
            )
            return
    unwrap_wrapper(walk, call)


def unwrap_nix(walk: Walk, call: ProgramCall) -> None:
    """nix develop -c words, nix run package -- words."""
    argv = call.argv
    for flag in ("-c", "--command", "--"):
        if flag in argv:
            place = argv.index(flag) + 1
            if flag == "--" and argv[1:2] == ["run"]:
                program = argv[2].rpartition("#")[2] if len(argv) > 2 else ""
                call = call.replace_arguments(["nix", program, *argv[place:]], first=-1)
                place = 1
            walk.run_inner(call, place, "nix")
            return


def unwrap_multicall(walk: Walk, call: ProgramCall) -> None:
    """coreutils --coreutils-prog=rm: the program is named by an option."""
    for index, word in enumerate(call.argv):
        for flag in ("--coreutils-prog=", "--coreutils-prog-shebang="):
            if word.startswith(flag):
                argv = [word.removeprefix(flag), *call.argv[index + 1 :]]
                changed = call.replace_arguments(["coreutils", *argv], first=-1)
                walk.run_inner(changed, 1, "coreutils")
                return


def unwrap_capsh(walk: Walk, call: ProgramCall) -> None:
    """What follows two dashes are the arguments of a shell."""
    if "--" in call.argv:
        argv = ["capsh", "bash", *call.argv[call.argv.index("--") + 1 :]]
        walk.run_inner(call.replace_arguments(argv, first=-1), 1, "capsh")


def unwrap_callback(walk: Walk, call: ProgramCall) -> None:
    """mapfile -C: a text that is run for every few lines."""
    place = find_option_value(call.argv, "-C")
    if place:
        walk.walk_argument(call, place, call.name)


def unwrap_joined(walk: Walk, call: ProgramCall) -> None:
    """watch and its like: the words are joined and given to a shell."""
    for place in find_operands(
        call.argv, taking=("-n", "--interval", "-q", "--equexit")
    ):
        walk.walk_arguments(call, place, call.name)
        return


def unwrap_text_option(walk: Walk, call: ProgramCall) -> None:
    """Programs that take a shell text after an option."""
    place = find_option_value(
        call.argv, "-c", "--command", "--exec", "--run", "-x", "-C", "-e"
    )
    if place:
        walk.walk_argument(call, place, call.name)


def unwrap_lock(walk: Walk, call: ProgramCall) -> None:
    place = find_option_value(call.argv, "-c", "--command")
    if place:
        walk.walk_argument(call, place, "flock -c")
        return
    taking = ("-w", "--timeout", "-E", "--conflict-exit-code")
    places = find_operands(call.argv, taking=taking)
    if len(places) > 1:
        walk.run_inner(call, places[1], "flock")


def unwrap_each(walk: Walk, call: ProgramCall) -> None:
    """hyperfine and concurrently: every operand is a text of its own."""
    taking = ("-w", "-r", "-m", "-M", "--warmup", "--runs", "-n", "--export-json", "-L")
    for place in find_operands(call.argv, taking=taking):
        walk.walk_argument(call, place, call.name)


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SHELLS, unwrap_shell),
    "eval": unwrap_eval,
    "source": unwrap_source,
    ".": unwrap_source,
    "trap": unwrap_trap,
    "env": unwrap_env,
    "su": unwrap_su,
    "runuser": unwrap_su,
    "sg": unwrap_group,
    "newgrp": unwrap_group,
    "bind": unwrap_binding,
    "mapfile": unwrap_callback,
    "readarray": unwrap_callback,
    "complete": unwrap_callback,
    "watch": unwrap_joined,
    "viddy": unwrap_joined,
    "script": unwrap_text_option,
    "nodemon": unwrap_text_option,
    "watchexec": unwrap_joined,
    "nix-shell": unwrap_text_option,
    "nix": unwrap_nix,
    "xterm": unwrap_text_option,
    "konsole": unwrap_text_option,
    "gnome-terminal": unwrap_text_option,
    "capsh": unwrap_capsh,
    "coreutils": unwrap_multicall,
    "flock": unwrap_lock,
    "hyperfine": unwrap_each,
    "concurrently": unwrap_each,
}
