"""What a finding is about, in words: the files, the branch, the table, what feeds xargs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.rules import RULES
from guidance.core.shell_commands.rules.invocation import sort_arguments
from guidance.core.shell_commands.shell.tree import UNKNOWN, Simple
from guidance.core.shell_commands.word_lists import split_names

_LONGEST = 60
# Of a statement or a line, and of a pipeline.
_LOOKED_AT = 400
_STAGES = 8
# From so many paths in one folder on they are counted; elsewhere so many are named.
_COUNTED = 3
_NAMED = 2
_SIGNS = frozenset("/.:~@")
# A program or a query, not the name of anything.
_SENTENCE_SIGNS = frozenset(" \n\t;(){}<>|'\"")
_OVERWRITING = (">", ">|", "&>", ">&", "<>")
# Words of a command that say what is done, not to what.
_VERBS = split_names(
    "delete del rm rmi remove rb destroy drop purge terminate uninstall unpublish prune "
    "volume container image network system stack service branch push reset clean stash "
    "checkout restore worktree tag repo release s3 s3api topic topics queue queues index "
    "apps app cluster clusters ns-delete instances compute sql projects"
)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """`text` says it all where {} is known; `many` is what three and more are called."""

    text: str
    find: Callable[[ProgramCall], Sequence[str]]
    many: str = "paths"


def describe_stake(rule: str, call: ProgramCall) -> tuple[str, str]:
    """What the call would do, and to what; both empty where that is not known."""
    sentence = _SENTENCES.get(rule)
    if sentence is None:
        # git's other operands say from where, not what.
        things = () if call.name == "git" else _list_things(call)
        what = _name_all(things, "things")
        return (f"{RULES[rule].message}: {what}", what) if what else ("", "")
    named = _name_all(sentence.find(call), sentence.many)
    fed = _find_feed(call)
    what = " and ".join(filter(None, (named, fed)))
    return (sentence.text.format(what), what) if what else ("", "")


def describe_text(rule: str, text: str) -> tuple[str, str]:
    """The same for a finding on a piece of SQL or of a program."""
    for pattern, said in _TEXTS.get(rule, ()):
        found = pattern.search(text[:_LOOKED_AT])
        if found is not None:
            parts = [
                _shorten(part.lower() if part.lower() in _KINDS else part)
                for part in found.groups("")
            ]
            return said.format(*parts), " ".join(parts)
    return "", ""


def _list_operands(call: ProgramCall) -> Sequence[str]:
    operands = sort_arguments(call.name, call.argv).operands
    # find puts the places it searches there.
    searched = frozenset(call.more or ())
    return [word for word in operands if word not in searched]


def _list_after_verbs(call: ProgramCall) -> Sequence[str]:
    operands = list(_list_operands(call))
    while operands and operands[0].lower() in _VERBS:
        del operands[0]
    return operands


def _join_after_verbs(call: ProgramCall) -> Sequence[str]:
    """`pod web` is one thing."""
    return [" ".join(_list_after_verbs(call))]


def _list_things(call: ProgramCall) -> Sequence[str]:
    """Operands that cannot be taken for anything but a path, an address or a name."""
    return [
        word
        for word in _list_after_verbs(call)
        if not _SIGNS.isdisjoint(word) and not _SENTENCE_SIGNS.intersection(word)
    ]


def _list_last(call: ProgramCall) -> Sequence[str]:
    """Where something is put: the last operand, or what the shell redirects to."""
    redirected = [
        redirect.target
        for redirect in call.simple.redirects
        if redirect.operator in _OVERWRITING and isinstance(redirect.target, str)
    ]
    return redirected or _list_operands(call)[-1:]


def _list_written(call: ProgramCall) -> Sequence[str]:
    """What is emptied: everything named, but not the nothing that is put there."""
    if any(redirect.operator in _OVERWRITING for redirect in call.simple.redirects):
        return _list_last(call)
    return [path for path in _list_operands(call) if path not in ("/dev/null", "nul")]


def _list_branches(call: ProgramCall) -> Sequence[str]:
    """`git push origin main`: main on origin."""
    remote, *branches = [*_list_after_verbs(call), ""][:9]
    names = [name.lstrip("+:").rpartition(":")[2] for name in branches if name]
    if not remote or not names:
        return [f"the current branch on {remote}"] if remote else []
    return [f"{name} on {remote}" for name in names]


def _list_searched(call: ProgramCall) -> Sequence[str]:
    places = []
    for word in call.argv[1:]:
        if word[:1] in ("-", "(", "!"):
            break
        places.append(word)
    return places or ["."]


def _find_feed(call: ProgramCall) -> str:
    """What the operands come from that stand nowhere in the command."""
    if call.more == ():
        return ""
    items = call.script.items
    start, end, stage = len(call.script.text), 0, call.simple.stage
    for _ in range(_STAGES):
        if stage is None or "xargs" not in call.via[-1:]:
            break
        read = [item for item in items[slice(*stage)] if isinstance(item, Simple)]
        start = min([start, *(item.start for item in read)])
        end = max([end, *(item.end for item in read)])
        # What that reads itself stands further ahead.
        stage = read[0].stage if read else None
    if end:
        fed = call.script.text[start:end].strip(" \t\n|")
        return f"whatever “{_shorten(fed)}” lists"
    if call.more:
        return f"whatever is found under {_name_all(call.more, 'places')}"
    return "whatever it is given"


def _name_all(paths: Sequence[str], many: str) -> str:
    """`a`, `a and b`, `3 files under src/`, `a, b and 4 more`."""
    known = [path for path in dict.fromkeys(paths) if path and path != "{}"]
    if any(path.strip(UNKNOWN) == "" for path in known):
        known = [path for path in known if path.strip(UNKNOWN)]
        known.append("what is only known when it runs")
    if len(known) >= _COUNTED:
        folder = _find_folder(known)
        if folder:
            return f"{len(known)} {many} under {_shorten(folder)}/"
        more = len(known) - _NAMED
        return f"{', '.join(map(_shorten, known[:_NAMED]))} and {more} more"
    return " and ".join(map(_shorten, known))


def _find_folder(paths: Iterable[str]) -> str:
    """The folder that holds them all, "" where that is the working folder or more."""
    folders = [path.removeprefix("./").split("/")[:-1] for path in paths]
    common = []
    for names in zip(*folders, strict=False):
        if len(set(names)) > 1:
            break
        common.append(names[0])
    return "/".join(common)


def _shorten(text: str) -> str:
    """On one line, without signs that nobody sees; of a long path the end tells more."""
    if text in (".", "./"):
        return "the working folder"
    line = " ".join(text.replace(UNKNOWN, "…").split())
    if not line.isprintable():
        line = "".join(sign if sign.isprintable() else "\ufffd" for sign in line)
    return line if len(line) <= _LONGEST else f"…{line[1 - _LONGEST :]}"


_SENTENCES: Mapping[str, _Sentence] = {
    "delete-folder": _Sentence(
        "Deletes {} with all contents", _list_operands, "folders"
    ),
    "delete-file": _Sentence("Deletes {}", _list_operands, "files"),
    "delete-named-file": _Sentence("Deletes {}", _list_operands, "files"),
    "windows-remove": _Sentence("Deletes {}", _list_operands, "files"),
    "find-delete": _Sentence(
        "Deletes whatever the search under {} finds", _list_searched, "places"
    ),
    "empty-file": _Sentence("Empties {}", _list_written, "files"),
    "shred-file": _Sentence(
        "Overwrites {} so that it cannot be recovered", _list_operands, "files"
    ),
    "overwrite-system-file": _Sentence(
        "Overwrites {}, which the system or its access depends on", _list_last
    ),
    "git-push-force": _Sentence("Overwrites the history of {}", _list_branches),
    "git-push-delete": _Sentence("Deletes {}", _list_branches),
    "git-branch-delete": _Sentence(
        "Deletes {}, which may not be merged", _list_after_verbs, "branches"
    ),
    "git-discard": _Sentence(
        "Throws away uncommitted changes in {}", _list_after_verbs
    ),
    "kubernetes-delete": _Sentence("Deletes {} from the cluster", _join_after_verbs),
    "helm-uninstall": _Sentence(
        "Uninstalls {} and deletes what it runs", _list_after_verbs, "releases"
    ),
    "container-delete": _Sentence("Deletes {}", _list_after_verbs, "containers"),
    "object-delete": _Sentence("Deletes {}", _list_after_verbs, "objects"),
    "database-drop": _Sentence("Drops the database {}", _list_after_verbs, "databases"),
    "disk-format": _Sentence("Formats {}", _list_operands, "disks"),
    "disk-wipe": _Sentence("Wipes {}", _list_operands, "disks"),
}
_KINDS = ("table", "database", "schema", "view", "index", "user", "role")
_NAME = r"([\w.$\"`\[\]-]{1,80})"
_ONLY = r"(?:only\s+|if\s+exists\s+|low_priority\s+|quick\s+|ignore\s+){0,3}"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_TEXTS: Mapping[str, Sequence[tuple[re.Pattern[str], str]]] = {
    "sql-drop": (
        (
            _compile(rf"drop\s+({'|'.join(_KINDS)})\s+{_ONLY}{_NAME}"),
            "Drops the {0} {1}",
        ),
    ),
    "sql-truncate": (
        (
            _compile(rf"truncate\s+(?:table\s+)?{_ONLY}{_NAME}"),
            "Deletes every row of {0}",
        ),
    ),
    "sql-delete-all": (
        (
            _compile(rf"delete\s+{_ONLY}from\s+{_ONLY}{_NAME}"),
            "Deletes every row of {0}",
        ),
    ),
    "sql-update-all": (
        (_compile(rf"update\s+{_ONLY}{_NAME}\s"), "Changes every row of {0}"),
    ),
    "sql-alter-drop": (
        (
            _compile(
                rf"alter\s+table\s+{_ONLY}{_NAME}\s+drop\s+(?:column\s+)?{_ONLY}{_NAME}"
            ),
            "Drops {1} of the table {0}",
        ),
    ),
    "code-delete": (
        (
            re.compile(r"\(\s*[rbuRBU]?[\"']([^\"'\n]{1,200})[\"']"),
            "A program deletes “{0}”",
        ),
    ),
}
