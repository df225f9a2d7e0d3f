"""Files that hold secrets, read by a program or through a redirection."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.pipelines import (
    is_kept_private,
    shows_names_alone,
)
from guidance.core.shell_commands.paths import is_root
from guidance.core.shell_commands.program_options import find_operands
from guidance.core.shell_commands.rules.invocation import list_verbs
from guidance.core.shell_commands.rules.options import TAKING_VALUES
from guidance.core.shell_commands.sensitive.secret_names import is_hunting
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.shell.tree import Heredoc
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# They show what a file holds, or carry it elsewhere.
SHOWING = split_names(
    "cat tac nl head tail less more most bat batcat view strings xxd od hexdump hd base64 base32 basenc uuencode "
    "cut sort uniq rev fold fmt paste column gron dasel xmllint diff sdiff comm tar zip 7z 7za rar gzip bzip2 xz zstd zcat "
    "gunzip split pv vi vim nvim nano emacs ed ex micro type get-content gc findstr select-string certutil sqlite3 plutil "
    "defaults pbcopy xclip xsel iconv csvtool mapfile readarray tr sops gpg gpg2 age iconv cpio pax ar shar "
    "scp rsync sftp rclone ftp lftp mutt mail mailx uuencode zip2john ssh2john ssh2john.py qrencode wl-copy clip perl ruby php"
)
_AFTER_PATTERN = split_names("grep egrep fgrep zgrep rg ag ack sed awk jq yq tomlq")
_COPYING = split_names(
    "cp mv ln install copy copy-item cpi move-item xcopy robocopy ditto"
)
_GIT = split_names("show diff log grep blame cat-file annotate")
READING = (
    SHOWING | _AFTER_PATTERN | _COPYING | {"git", "dd", "curl", "wget", "find", "fd"}
)
_KEEPING = frozenset(
    (
        "ssh-add",
        "ssh-keygen",
        "ssh",
        "sudo",
        "docker",
        "kubectl",
        "helm",
        "gh",
        "vault",
        "openssl",
    )
)
# Their paths hold backslashes, which another shell takes away.
_WINDOWS = split_names(
    "type get-content gc copy copy-item cpi xcopy robocopy findstr select-string more"
)
_RECURSIVE = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive|--hidden|-uu+")
_SLASHES = re.compile(r"//+")
_FOLDER = re.compile(
    r"(?:/|~[\w.-]*|/(?:etc|home|root|opt|srv|var|users)|/(?:home|users)/[^/]+)"
    r"(?:/\.(?:config|local|local/share|cache))?/?(?:\*)?",
    re.I,
)


def judge_reads(walk: Walk, call: ProgramCall) -> None:
    """Report the worst secret that its operands name, and searches for secrets."""
    if _is_hunt(call):
        walk.report.add("credential-search", call)
        return
    if _forces_into_history(call):
        walk.report.add("exfil-secret", call)
        return
    for path in _list_paths(walk, call):
        rule = find_secret_rule(path)
        if rule and not (rule == "credential-env-file" and _is_harmless(walk, call)):
            walk.report.add(rule, call)
            return


def judge_input(walk: Walk, call: ProgramCall) -> None:
    """A secret behind `<`."""
    for redirect in call.simple.redirects:
        if redirect.operator != "<" or isinstance(redirect.target, Heredoc):
            continue
        rule = find_secret_rule(walk.known.expand_word(redirect.target))
        if not rule or call.name in _KEEPING:
            continue
        if rule == "credential-env-file" and (
            call.name not in READING or _is_harmless(walk, call)
        ):
            continue
        walk.report.add_whole(rule, call)


def _is_harmless(walk: Walk, call: ProgramCall) -> bool:
    """Of a file of settings only names are shown, or it stays where it is."""
    if call.name in _COPYING:
        return True
    return shows_names_alone(call.name, call.argv) or is_kept_private(walk, call)


def _list_paths(walk: Walk, call: ProgramCall) -> Iterator[str]:
    name, argv = call.name, call.argv
    if name in _WINDOWS:
        argv = walk.report.get_raw_words(call)
    if name == "git":
        yield from _list_git_paths(argv)
        return
    if name == "dd":
        yield from (word[3:] for word in argv if word.startswith("if="))
        return
    if name in ("curl", "wget"):
        yield from (word for word in argv if word.lower().startswith("file://"))
        return
    words = [word for word in argv[1:] if word[:1] != "-"]
    words += [
        word.partition("=")[2] for word in argv[1:] if word[:1] == "-" and "=" in word
    ]
    if name in _AFTER_PATTERN and not any(
        word in ("-e", "-f", "--regexp", "--file") for word in argv
    ):
        words = words[1:]
    elif name in _COPYING:
        words = words[:-1]
    elif name in ("find", "fd"):
        return
    yield from words
    if call.more:
        yield from call.more


def _forces_into_history(call: ProgramCall) -> bool:
    """`git add -f .env`: what was left out on purpose goes wherever the history goes."""
    argv = call.argv
    if (
        call.name != "git"
        or "add" not in list_verbs("git", argv)
        or not {"-f", "--force"} & set(argv)
    ):
        return False
    return any(map(find_secret_rule, argv[1:]))


def _list_git_paths(argv: list[str]) -> Iterator[str]:
    """`git show HEAD:.env`, `git log -p -- .env`."""
    places = find_operands(argv, taking=TAKING_VALUES["git"])
    if not places or argv[places[0]] not in _GIT:
        return
    words = [word for word in argv[places[0] :] if word[:1] != "-"]
    if words[0] in ("log",) and not {"-p", "-u", "--patch"} & set(argv):
        return
    for word in words[1:]:
        yield word.partition(":")[2] or word


def _is_hunt(call: ProgramCall) -> bool:
    """A search through a home or the whole machine for what looks like secrets."""
    name, argv = call.name, call.argv
    if name in ("find", "fd", "locate", "mdfind"):
        if name == "find" and not any(is_wide(word) for word in argv[1:]):
            return False
        return any(
            find_secret_rule(argv[index + 1]) or is_hunting(argv[index + 1])
            for index in range(1, len(argv) - 1)
            if argv[index] in ("-name", "-iname", "-path", "-ipath", "-regex", "-g")
        ) or (name in ("locate", "mdfind") and any(map(find_secret_rule, argv[1:])))
    if name not in ("grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep"):
        return False
    words = [word for word in argv[1:] if word[:1] != "-"]
    if len(words) < 2 or not any(is_wide(word) for word in words[1:]):
        return False
    recursive = name in ("rg", "ag", "ack") or any(map(_RECURSIVE.fullmatch, argv[1:]))
    return recursive and is_hunting(words[0])


def is_wide(path: str) -> bool:
    path = _SLASHES.sub("/", path)
    return _FOLDER.fullmatch(path) is not None or is_root(path)
