"""Files that others run or trust later, written by a program or a redirection."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.contents import (
    list_content_rules,
    may_hold_rules,
)
from guidance.core.shell_commands.families.streams import judge_socket
from guidance.core.shell_commands.paths import is_network
from guidance.core.shell_commands.sensitive.written_paths import (
    find_written_rule,
    redirects_names,
)
from guidance.core.shell_commands.shell.tree import UNKNOWN, Heredoc
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

_EACH = split_names(
    "tee sponge truncate patch ed ex set-content add-content out-file sc ac crudini augtool chattr"
)
_CMDLETS = split_names("set-content add-content out-file sc ac")
_LAST = split_names(
    "cp mv ln install rsync scp copy copy-item cpi move move-item xcopy robocopy ditto"
)
_IN_PLACE = split_names("sed perl ruby awk gawk yq ex vim vi")
_DOWNLOADING = split_names("curl wget aria2c")
WRITING = (
    _EACH | _LAST | _IN_PLACE | _DOWNLOADING | {"dd", "python", "node", "unzip", "tar"}
)
# A downloaded file under the name of a program that everybody calls.
_SHADOWING = re.compile(
    r"(?:.*/)?s?bin/(?:git|ssh|scp|sudo|su|ls|cat|cp|rm|ps|env|(?:ba|z|da)?sh|python[\d.]*|pip[\d.]*|node|npm|npx"
    r"|docker|gpg|curl|wget|make|gcc|cc|login|passwd|vim?|grep|find|tar|man|open|code|checkrail)"
)
_RUN_AT_START = (".pth", "/sitecustomize.py", "/usercustomize.py")
_WRITTEN = (">", ">>", ">|", "&>", "&>>")
_OUTPUT = (
    "-o",
    "--output",
    "-O",
    "--output-document",
    "-P",
    "--directory-prefix",
    "-C",
    "-d",
)
_JOINED_OUTPUT = re.compile(r"-[a-zA-Z]{1,6}[oO]")
_OPENED = re.compile(
    r"[\"']([~/.][^\"'\n]{3,160})[\"']\s*,\s*(?:mode\s*=\s*)?[\"'][wa+]"
)


def judge_writes(walk: Walk, call: ProgramCall) -> None:
    for path in _list_targets(walk, call):
        rule = find_written_rule(path)
        if not rule and redirects_names(path, call.script.text):
            rule = "persist-hook"
        if not rule and call.name in _DOWNLOADING and _SHADOWING.fullmatch(path):
            rule = "remote-package"
        if rule:
            walk.report.add(rule, call)
            return


def judge_output(walk: Walk, call: ProgramCall) -> None:
    """What a redirection writes to."""
    for redirect in call.simple.redirects:
        if redirect.operator not in _WRITTEN or isinstance(redirect.target, Heredoc):
            continue
        path = walk.known.expand_word(redirect.target)
        if is_network(path):
            judge_socket(walk, call, path)
            continue
        rule = find_written_rule(path)
        if not rule and (
            # Where python keeps its packages, found out by the command itself.
            (UNKNOWN in path and path.endswith(_RUN_AT_START))
            or redirects_names(path, call.script.text)
        ):
            rule = "persist-hook"
        if rule:
            walk.report.add_whole(rule, call)
        if not may_hold_rules(path, call.script.text):
            continue
        content = walk.known.get_file(path)
        if content is not None and content.text:
            for found in list_content_rules(path, content.text):
                walk.report.add_whole(found, call)


def _list_targets(walk: Walk, call: ProgramCall) -> Iterator[str]:
    name, argv = call.name, call.argv
    if name in _CMDLETS:
        # `$PROFILE` is known by its name alone.
        argv = walk.report.get_raw_words(call)
    words = [word for word in argv[1:] if word[:1] != "-"]
    if name in _EACH:
        yield from words
    elif name in _LAST:
        yield from _list_destinations(argv, words)
    elif name in _IN_PLACE:
        if any(
            re.fullmatch(r"-[a-zA-Z]*i.*|--in-place.*|-c", word) for word in argv[1:]
        ):
            yield from words
    elif name == "dd":
        yield from (word[3:] for word in argv if word.startswith("of="))
    elif name in ("python", "node"):
        for word in argv[1:]:
            yield from (found[1] for found in _OPENED.finditer(word))
    else:
        for index, word in enumerate(argv[:-1]):
            if word in _OUTPUT or _JOINED_OUTPUT.fullmatch(word):
                yield argv[index + 1]


def _list_destinations(argv: list[str], words: list[str]) -> Iterator[str]:
    """The last operand, or the folder after -t, with the names that arrive there."""
    folder = next(
        (
            argv[i + 1]
            for i, w in enumerate(argv[:-1])
            if w in ("-t", "--target-directory")
        ),
        "",
    )
    if not folder and len(words) > 1:
        folder, words = words[-1], words[:-1]
    if not folder:
        return
    yield folder
    for word in words:
        yield f"{folder.rstrip('/')}/{word.rstrip('/').rpartition('/')[2]}"
