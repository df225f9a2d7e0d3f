"""One program with its arguments sorted into flags and operands."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from guidance.core.shell_commands.limits import TooMuchError
from guidance.core.shell_commands.own_server import USUAL_SERVER, OwnServer
from guidance.core.shell_commands.rules.options import TAKING_VALUES

_NONE: frozenset[str] = frozenset()
_LONGEST_MODE = 256
_FEW_VERBS = 2
# -HUP is a signal to them, not a bundle.
_SIGNALLING = frozenset(("kill", "killall", "pkill", "skill"))
_OFF = ("none", "false", "no", "0", "never")
# Short for --dry-run where a program has both.
_DRY = "-n"


@dataclass(slots=True)
class Invocation:
    """`sure` are the operands that do not follow an option we do not know."""

    name: str
    argv: list[str]
    # Where relative paths stand, if that is a temporary folder.
    folder: str = ""
    # Temporary paths that lead to something that is not.
    moved: Sequence[str] = ()
    linked: Sequence[str] = ()
    # Files that the same command has made, and folders that tools make again.
    made: Collection[str] = ()
    disposable: frozenset[str] = _NONE
    # Relative names may not be those of the working folder.
    left: bool = False
    flags: dict[str, str] = field(default_factory=dict)
    operands: list[str] = field(default_factory=list)
    sure: list[str] = field(default_factory=list)
    # More operands come from elsewhere, as under xargs; `more` are those known.
    open_ended: bool = False
    more: tuple[str, ...] = ()
    # Its questions are answered by a pipe.
    answered: bool = False
    # The text that is piped into it, where that matters and is known.
    fed: str | None = None
    # The guard's own server.
    server: OwnServer = USUAL_SERVER
    # The files that its pipeline reads, where that matters.
    inputs: Collection[str] = ()

    @property
    def modes(self) -> list[str]:
        """The words that may say who may do what: chmod takes one, and `-x` is one."""
        words = [word for word in self.argv[1:] if word[:1] == "-"]
        words += self.operands[:1]
        if max(map(len, words), default=0) > _LONGEST_MODE:
            raise TooMuchError(f"a mode of more than {_LONGEST_MODE} characters")
        return words

    def has_any(self, wanted: tuple[str, ...]) -> bool:
        for flag in wanted:
            if flag in self.flags:
                return True
        return any(self.has(flag) for flag in wanted if len(flag) > 2)

    def has(self, flag: str) -> bool:
        """Given, as it stands, as a prefix, or with the value after `=`."""
        name, equals, value = flag.partition("=")
        if equals:
            return self.flags.get(name, "") == value
        if name in self.flags:
            return True
        if name.endswith("*"):
            return any(given.startswith(name[:-1]) for given in self.flags)
        if not name.startswith("--"):
            return False
        # GNU and git accept any beginning of a long option.
        return any(
            len(given) > 3 and given.startswith("--") and name.startswith(given)
            for given in self.flags
        )

    def is_meant(self, flag: str) -> bool:
        """Given and not taken back, as --dry-run=none and --no-dry-run do."""
        if not self.has(flag) or self.flags.get(flag, "") in _OFF:
            return False
        taken_back = "--no-dry-run" if flag == _DRY else f"--no-{flag[2:]}"
        return taken_back not in self.flags


def list_verbs(name: str, argv: list[str]) -> list[str]:
    """The first operands, however many options stand before them; where an option is
    not known, also those without what may be its value."""
    found = sort_arguments(name, argv)
    return [*found.operands[:_FEW_VERBS], *found.sure[:_FEW_VERBS]]


def sort_arguments(
    name: str, argv: list[str], *, folder: str = "", slashes: bool = False
) -> Invocation:
    """Flags may stand anywhere before `--`; `slashes` means Windows: /s is a flag."""
    found = Invocation(name, argv, folder)
    flags, operands = found.flags, found.operands
    taking = TAKING_VALUES.get(name, _NONE)
    unknown = False
    index, count = 1, len(argv)
    while index < count:
        word = argv[index]
        index += 1
        if word[:1] != "-" or word == "-":
            if slashes and word[:1] == "/" and 1 < len(word) < 20:
                flags[word.lower().partition(":")[0]] = ""
                continue
            if not operands:
                taking = TAKING_VALUES.get(f"{name} {word}", taking)
            operands.append(word)
            if not unknown:
                found.sure.append(word)
            unknown = False
            continue
        if word == "--":
            rest = argv[index:]
            operands += rest
            found.sure += rest
            break
        flag, equals, value = word.partition("=")
        if (flag.lower() if slashes else flag) in taking and not equals:
            value = argv[index] if index < count else ""
            index += 1
        flags[flag.lower() if slashes else flag] = value
        unknown = (
            not equals
            and flag not in taking
            and len(flag) > 2
            and not flag.startswith("--no-")
            # All that take a value before the verb are known.
            and (name != "git" or bool(operands))
        )
        if (
            flag[1:2] in ("-", "")
            or slashes
            or (name in _SIGNALLING and flag[1:].isupper())
        ):
            continue
        for place in range(1, len(flag)):
            letter = "-" + flag[place]
            if letter not in flags:
                flags[letter] = ""
            if letter in taking:
                if place + 1 == len(flag) > 2 and not equals:
                    flags[letter] = argv[index] if index < count else ""
                    index += 1
                break
    return found
