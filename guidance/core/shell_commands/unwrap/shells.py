"""Shells inside shells: what they are given as a text is read as a text."""

from __future__ import annotations

from guidance.core.shell_commands.call import Call
from guidance.core.shell_commands.program_names import canonical
from guidance.core.shell_commands.program_options import glued, operands, value_of
from guidance.core.shell_commands.script_state import Content
from guidance.core.shell_commands.shell.patterns import VARIABLES
from guidance.core.shell_commands.shell.tree import UNKNOWN, Simple, Substitution, Word
from guidance.core.shell_commands.unwrap.wrappers import unwrap
from guidance.core.shell_commands.walk import Handler, Walk
from guidance.core.shell_commands.word_lists import names

SHELLS = names("sh bash zsh dash ksh mksh ash fish csh tcsh rbash yash elvish")
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


def shell(walk: Walk, call: Call) -> None:
    argv = call.argv
    script = reading = False
    index = 1
    while index < len(argv):
        word = argv[index]
        if word == "--" or word[:1] not in ("-", "+") or word == "-":
            index += word == "--"
            break
        index += 1
        if word[1:2] == "-":
            script = script or word in ("--command", "--commands")
            index += word in _TAKING
            continue
        script = script or (word[0] == "-" and "c" in word)
        reading = reading or (word[0] == "-" and "s" in word)
        # The name of a setting follows -o, also at the end of a bundle.
        index += word[-1] in "oO"
    if script and index < len(argv):
        _positional(walk, call, index, f"{call.name} -c", argv[index + 2 :])
    elif script:
        if call.more is None:
            walk.report.opaque("opaque-script", call)
    elif index < len(argv) and not reading:
        run_file(walk, call, index)
    else:
        content = walk.stdin(call)
        if content is not None:
            walk.content(content, call, call.name)


def _positional(
    walk: Walk, call: Call, place: int, via: str, arguments: list[str]
) -> None:
    before = walk.known.positional
    walk.known.positional = tuple(arguments)
    walk.argument(call, place, via)
    walk.known.positional = before


def run_file(walk: Walk, call: Call, place: int) -> None:
    """A script file: only what this command itself wrote can be read."""
    path = call.argv[place]
    content: Content | None
    if path in _STDIN:
        content = walk.stdin(call)
    else:
        content = walk.known.file(path)
    if content is None:
        return
    before = walk.known.positional
    walk.known.positional = tuple(call.argv[place + 1 :])
    walk.content(content, call, f"{call.name} {path}".replace(UNKNOWN, "…"))
    walk.known.positional = before


def evaluate(walk: Walk, call: Call) -> None:
    if len(call.argv) < 2 or _is_setup(call):
        return
    walk.arguments(call, 1, call.name)


def _is_setup(call: Call) -> bool:
    """`eval "$(ssh-agent -s)"` and its like."""
    simple = _substituted(call)
    if simple is None or not all(isinstance(word, str) for word in simple.words):
        return False
    words = [str(word) for word in simple.words]
    if not words:
        return False
    expected = _SETUP.get(canonical(words[0]))
    if expected is None or simple.stage is not None:
        return False
    return not expected or any(word in words[1:3] for word in expected)


def _substituted(call: Call) -> Simple | None:
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


def source(walk: Walk, call: Call) -> None:
    if len(call.argv) > 1:
        simple = _substituted(call)
        if simple is not None and _is_setup(call):
            return
        run_file(walk, call, 1)


def trap(walk: Walk, call: Call) -> None:
    """Its text is read when a signal comes: with the values of now, or with later ones."""
    places = operands(call.argv)
    if len(places) < 2 or call.argv[places[0]] in ("-", ""):
        return
    named = VARIABLES.findall(call.argv[places[0]])
    if all(name in walk.known.variables for name in named):
        walk.argument(call, places[0], "trap")
    if named:
        walk.later.append((call, places[0], "trap"))


def substitute_user(walk: Walk, call: Call) -> None:
    """su and runuser: a text after -c, or a shell that reads its input."""
    place = value_of(call.argv, "-c", "--command", "--session-command")
    if place:
        walk.argument(call, place, f"{call.name} -c")
        return
    if call.name == "runuser":
        for index in operands(call.argv, taking=("-u", "--user", "-g", "-G", "-s")):
            walk.inner(call, index, call.name)
            return
    content = walk.stdin(call)
    if content is not None:
        walk.content(content, call, call.name)


def environment(walk: Walk, call: Call) -> None:
    """env, which can also split a text into words."""
    for index, word in enumerate(call.argv[1:], 1):
        if word in ("-S", "--split-string") and index + 1 < len(call.argv):
            walk.arguments(call, index + 1, "env -S")
            return
        text = glued(word, "-S", "--split-string")
        if text is not None:
            walk.shell(text, origin=walk.whole(call), via=(*call.via, "env -S"))
            return
    unwrap(walk, call)


def joined(walk: Walk, call: Call) -> None:
    """watch and its like: the words are joined and given to a shell."""
    for place in operands(call.argv, taking=("-n", "--interval", "-q", "--equexit")):
        walk.arguments(call, place, call.name)
        return


def with_text(walk: Walk, call: Call) -> None:
    """Programs that take a shell text after an option."""
    place = value_of(call.argv, "-c", "--command", "--exec", "--run", "-x", "-C", "-e")
    if place:
        walk.argument(call, place, call.name)


def lock(walk: Walk, call: Call) -> None:
    place = value_of(call.argv, "-c", "--command")
    if place:
        walk.argument(call, place, "flock -c")
        return
    taking = ("-w", "--timeout", "-E", "--conflict-exit-code")
    places = operands(call.argv, taking=taking)
    if len(places) > 1:
        walk.inner(call, places[1], "flock")


def each(walk: Walk, call: Call) -> None:
    """hyperfine and concurrently: every operand is a text of its own."""
    taking = ("-w", "-r", "-m", "-M", "--warmup", "--runs", "-n", "--export-json", "-L")
    for place in operands(call.argv, taking=taking):
        walk.argument(call, place, call.name)


def later(walk: Walk, call: Call) -> None:
    """at and batch run what they read."""
    if value_of(call.argv, "-f") or "-l" in call.argv or "-r" in call.argv:
        return
    content = walk.stdin(call)
    if content is not None:
        walk.content(content, call, call.name)


def schedule(walk: Walk, call: Call) -> None:
    """crontab: the lines it reads, without their times."""
    walk.judge(call)
    if any(word in call.argv for word in ("-l", "-r", "-e")):
        return
    content = walk.stdin(call)
    if content is None:
        return
    if content.opaque:
        walk.content(content, call, "crontab")
        return
    lines = [job for line in content.text.splitlines() if (job := _job(line))]
    if not lines:
        walk.report.found("schedule-remove", call)
    walk.content(Content("\n".join(lines)), call, "crontab")


def _job(line: str) -> str:
    line = line.strip()
    if not line or line.startswith("#"):
        return ""
    times = 1 if line.startswith("@") else 5
    parts = line.split(None, times)
    return parts[times] if len(parts) > times else ""


def terminal(walk: Walk, call: Call) -> None:
    """screen and tmux: a command to start, or keys typed into a shell."""
    argv = call.argv
    taking = ("-S", "-s", "-t", "-n", "-c", "-x", "-y", "-F", "-L", "-f", "-T", "-e")
    places = operands(argv, taking=taking)
    if not places:
        return
    if call.name == "screen":
        walk.inner(call, places[0], "screen")
        return
    verb = argv[places[0]]
    if verb.startswith(("send", "new", "neww", "split", "respawn", "run", "pipe")):
        for place in places[1:]:
            walk.argument(call, place, f"tmux {verb}")


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(SHELLS, shell),
    "eval": evaluate,
    "source": source,
    ".": source,
    "trap": trap,
    "env": environment,
    "su": substitute_user,
    "runuser": substitute_user,
    "watch": joined,
    "viddy": joined,
    "script": with_text,
    "nodemon": with_text,
    "watchexec": joined,
    "nix-shell": with_text,
    "nix": with_text,
    "xterm": with_text,
    "konsole": with_text,
    "gnome-terminal": with_text,
    "capsh": with_text,
    "flock": lock,
    "hyperfine": each,
    "concurrently": each,
    "at": later,
    "batch": later,
    "crontab": schedule,
    "screen": terminal,
    "tmux": terminal,
}
