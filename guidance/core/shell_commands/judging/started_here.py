"""Servers and clusters that the same command has started: it may end them as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.scratch_names import is_own_host
from guidance.core.shell_commands.disposable.whole_script import list_before
from guidance.core.shell_commands.paths import is_temporary
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# What ends a server or a cluster, and the words that begin one, of any of these programs.
_STARTED_BY: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "redis-cli": (split_names("redis-server valkey-server keydb-server"), frozenset()),
    "valkey-cli": (split_names("redis-server valkey-server"), frozenset()),
    "mysqladmin": (
        split_names("mysqld mysqld_safe mariadbd mariadbd-safe"),
        frozenset(),
    ),
    "mariadb-admin": (split_names("mysqld mariadbd mariadbd-safe"), frozenset()),
    "pg_ctl": (split_names("pg_ctl initdb"), frozenset()),
    "minikube": (split_names("minikube"), split_names("start")),
    "kind": (split_names("kind"), split_names("create")),
    "k3d": (split_names("k3d"), split_names("create")),
    "ctlptl": (split_names("ctlptl"), split_names("create")),
    "colima": (split_names("colima"), split_names("start")),
    "limactl": (split_names("limactl"), split_names("start create")),
    "multipass": (split_names("multipass"), split_names("launch")),
}
_ENDING = split_names("shutdown stop delete kill")
# Options that say which one is meant.
_NAMING = split_names(
    "-p --port -P -D --pgdata -S --socket -s --profile --name -n --unix-socket"
)
_HOSTS = ("-h", "--host")


def ends_own(walk: Walk, call: ProgramCall) -> bool:
    """Does it end one that it has started itself, under the same port, folder or name?"""
    if call.name not in _STARTED_BY or call.via:
        return False
    words = [word.lower() for word in call.argv[1:]]
    if _ENDING.isdisjoint(words) or "--all" in words:
        return False
    names = list(_list_names(call.argv))
    hosts = [after for word, after in _list_pairs(call.argv) if word in _HOSTS]
    if not names or not all(map(is_own_host, hosts)):
        return False
    if call.name == "pg_ctl" and all(map(is_temporary, names)):
        return True
    programs, verbs = _STARTED_BY[call.name]
    for item in list_before(call.script, call.simple, walk.budget):
        argv = walk.known.build_argv(item.words)
        if (
            argv
            and resolve_program(argv[0]) in programs
            and (not verbs or not verbs.isdisjoint(argv))
            and set(names) <= {part for word in argv for part in (word, _cut(word))}
        ):
            return True
    return False


def _cut(word: str) -> str:
    """The value of --port=6399, and of -p6399."""
    _, equals, value = word.partition("=")
    return value if equals else word[2:] if word[:1] == "-" != word[1:2] else word


def _list_names(argv: list[str]) -> Iterator[str]:
    for word, after in _list_pairs(argv):
        if word in _NAMING:
            yield after
    last = argv[-1]
    if argv[0] in ("multipass", "limactl", "k3d") and last not in _ENDING:
        yield last


def _list_pairs(argv: list[str]) -> Iterator[tuple[str, str]]:
    """Each option with its value, however it is written."""
    for place, word in enumerate(argv[1:], 1):
        option, equals, value = word.partition("=")
        if equals:
            yield option, value
        elif place + 1 < len(argv):
            yield word, argv[place + 1]
