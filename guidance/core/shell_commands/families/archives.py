"""Archives that a command fetches, unpacks and runs something of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.pipelines import list_feeders
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.tree import Simple
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

UNPACKING = split_names("tar bsdtar gtar unzip 7z 7za")
_FETCHING = split_names("curl wget aria2c")
_SHELLS = split_names("sh bash zsh dash ksh")
_INTERPRETERS = split_names("python node perl ruby php")
# Those who publish there sign their releases, or are who they say.
_PUBLISHERS = re.compile(
    r"https?://(?:[\w.-]+\.)?(?:github\.com|githubusercontent\.com|gitlab\.com|codeberg\.org|sourceforge\.net"
    r"|nodejs\.org|go\.dev|golang\.org|google\.com|googleapis\.com|python\.org|apache\.org|gnu\.org"
    r"|kernel\.org|sqlite\.org|postgresql\.org|hashicorp\.com|rust-lang\.org|ziglang\.org|amazonaws\.com|k8s\.io"
    r"|helm\.sh|docker\.com|microsoft\.com|azureedge\.net|elastic\.co|localhost)"
    r"(?::\d+)?/.*"
)
_ADDRESS = re.compile(r"(?:https?|ftp)://.*")
# What an archive calls the file that installs it.
_INSTALLER = re.compile(
    r"(?:.*/)?(?:install|setup|configure|bootstrap|run|start)(?:[.-][\w.-]*)?"
)
_ENDING = re.compile(r"\.(?:tar(?:\.\w+)?|tgz|tbz2?|txz|zip|7z)\Z")


def judge_archive(walk: Walk, call: ProgramCall) -> None:
    """Something of an archive is run that no known publisher has put there."""
    if not walk.known.files and call.simple.stage is None:
        return
    name = _find_fetched(walk, call)
    if name is None:
        return
    if any(_runs_from(words, name) for words in _list_after(walk, call)):
        walk.report.add("remote-package", call)


def _find_fetched(walk: Walk, call: ProgramCall) -> str | None:
    """What the archive is called that this command has fetched, None if it has not."""
    words = call.argv[1:]
    contents = ((word, walk.known.get_file(word)) for word in words)
    found = any(each and each.opaque == "download" for _, each in contents)
    sources: list[Simple] = [*list_feeders(call.script, call.simple)]
    if found:
        items = call.script.items
        sources += [item for item in items if isinstance(item, Simple)]
    for item in sources:
        argv = walk.known.build_argv(item.words)
        if not argv or resolve_program(argv[0]) not in _FETCHING:
            continue
        for word in argv[1:]:
            if _ADDRESS.fullmatch(word) and not _PUBLISHERS.fullmatch(word):
                return _ENDING.sub("", word.partition("?")[0].rpartition("/")[2])
    return None


def _list_after(walk: Walk, call: ProgramCall) -> Iterator[list[str]]:
    after = False
    for item in call.script.items:
        if item is call.simple:
            after = True
        elif after and isinstance(item, Simple) and item.words:
            yield walk.known.build_argv(item.words)


def _runs_from(argv: list[str], name: str) -> bool:
    """A file below a folder of the archive's name, or one that installs."""
    if argv and resolve_program(argv[0]) == "sudo":
        argv = argv[1:]
    if not argv:
        return False
    path, program = argv[0], resolve_program(argv[0])
    if program in _SHELLS or program in _INTERPRETERS:
        path = next((word for word in argv[1:] if word[:1] != "-"), "")
    elif "/" not in path:
        return False
    if path[:1] in ("", "/", "~"):
        return False
    folder, slash, _ = path.removeprefix("./").partition("/")
    inside = bool(slash and name) and folder.startswith(name)
    installs = _INSTALLER.fullmatch(path) is not None
    # A project's own program may read what was fetched; its setup is its own as well.
    return inside and installs if program in _INTERPRETERS else inside or installs
