"""Files of the guard and of coding agents: settings, hooks, policies, the client itself."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.guard.rulings import SHOWING, list_code
from guidance.core.shell_commands.families.guard.texts import AGENTS
from guidance.core.shell_commands.families.pipelines import list_substituted
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.rules.invocation import list_verbs
from guidance.core.shell_commands.sensitive.guard_paths import (
    is_guard_data,
    is_guard_setting,
    is_policy_file,
    may_name_guard,
)
from guidance.core.shell_commands.shell.tree import (
    Heredoc,
    Simple,
    Variable,
    Word,
)
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# They leave a file as it is, unless another option says otherwise.
_LOOKING = SHOWING | {"python", "node"}
_READERS = split_names(
    "cat head tail less more strings grep egrep rg jq sqlite3 base64 xxd od cp tar zip rsync scp sed awk cut tee bat view vim nano mv"
)
_INTERPRETERS = split_names("python node ruby perl php")
_IN_PLACE = re.compile(r"-[a-zA-Z]*i.*|--in-?place.*")
_WRITING_CODE = re.compile(r"write|dump|[\"'][wa]b?[\"']|unlink|remove|rmtree")
_QUOTED = re.compile(r"[\"']([^\"'\n]{0,160})[\"']")
# The client's own files, found by the program that changes them.
_OWN_CODE = re.compile(r"checkrail\.__(?:file|path)__|getfile\(\s*checkrail")
_GIT_CHANGING = split_names(
    "checkout restore rm mv reset clean stash apply am revert update-index"
)
_PATCHING = ("apply_patch", "patch", "gpatch")
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:(?:Add|Update|Delete) File|Move to):|(?:\+{3}|-{3}) (?:[ab]/)?)"
    r"([^\t\n]{1,300})",
    re.MULTILINE,
)
_PROGRAM = re.compile(r"(?:.*/)?bin/checkrail(?:-\w+)?")
# A file of that name is run in place of the client, wherever PATH finds it first.
_SHADOW = re.compile(r"(?:.*/)?checkrail(?:-hooks?)?(?:\.(?:cmd|bat|exe|ps1))?")
_REPLACING = split_names("chmod chown mv rm ln cp unlink")
# Variables that name a place of the guard.
_PLACE_SETTING = re.compile(r"CHECKRAIL_(?:DATA|CONFIG|HOME|DIR|KEY_FILE)\w*")
_STARTUP = re.compile(
    r"(?:.*/)?\.(?:bashrc|profile|zshrc|zshenv|bash_profile|zprofile|env|envrc)"
)
# A policy in which less is asked or refused than before.
_LOOSENED = re.compile(
    r"\b(?:hold|block|deny|ask|refuse|confirm|require-confirmation)\b.{0,60}\b(?:allow|warn|permit|approve|skip)\b"
    r"|=\s*\\?[\"']?(?:allow|warn|permit|skip)\b",
    re.IGNORECASE,
)
_EDITING = split_names("sed perl ruby awk jq yq python node")
_CLIENT = re.compile(r"\bcheckrail\b")
_PROCESS = re.compile(rf"\b(?:checkrail|{AGENTS})\b")
_WRITTEN = (">", ">>", ">|", "&>", "&>>")


def judge_files(walk: Walk, call: ProgramCall) -> None:
    words = _list_words(call)
    settings = any(is_guard_setting(word) for word in words if word)
    data = any(is_guard_data(word) for word in words if word) or _names_variable(call)
    by_code = call.name in _INTERPRETERS and any(
        map(writes_guard_file, list_code(walk, call))
    )
    if (
        by_code
        or _patches_settings(walk, call)
        or (settings and _is_changing(call))
        or _replaces_client(call)
    ):
        walk.report.add("guard-settings", call)
    if data and (call.name in _READERS or _is_changing(call)):
        walk.report.add("guard-data", call)
    if call.name in _EDITING and _loosens_policy(call):
        walk.report.add("guard-settings", call)


def _list_words(call: ProgramCall) -> list[str]:
    """The words that may be paths of the guard: with the folder they stand in, and
    behind an equals sign."""
    folder, given = _find_folder(call), call.argv[1:]
    # All at once, as most calls name none of them (bench: "a request").
    if not may_name_guard("\n".join((folder, *given))):
        return []
    words = [part for word in given for part in (word, word.partition("=")[2])]
    if folder:
        words += [f"{folder}/{word}" for word in given if word[:1] not in "-/"]
    return words


def _find_folder(call: ProgramCall) -> str:
    """`cd .claude && rm settings.json`: the folder that the command has gone to."""
    folder = ""
    for item in call.script.items:
        if item is call.simple:
            return folder
        if isinstance(item, Simple) and item.words[:1] in (["cd"], ["pushd"]):
            folder = str(item.words[-1]).rstrip("/")
    return ""


def judge_guard_redirections(walk: Walk, call: ProgramCall) -> None:
    for redirect in call.simple.redirects:
        if isinstance(redirect.target, Heredoc):
            continue
        path = walk.known.expand_word(redirect.target)
        if redirect.operator in _WRITTEN:
            if (
                is_guard_setting(path)
                or _SHADOW.fullmatch(path)
                or _is_guard_process(redirect.target)
            ):
                walk.report.add_whole("guard-settings", call)
            elif is_guard_data(path):
                walk.report.add_whole("guard-data", call)
            elif (
                call.argv
                and _STARTUP.fullmatch(path)
                and any("CHECKRAIL_" in word for word in call.argv[1:])
            ):
                walk.report.add_whole("guard-environment", call)
        elif redirect.operator == "<" and (
            is_guard_data(path) or _is_guard_process(redirect.target)
        ):
            walk.report.add_whole("guard-data", call)


def _is_changing(call: ProgramCall) -> bool:
    name, argv = call.name, call.argv
    if name == "git":
        return not _GIT_CHANGING.isdisjoint(list_verbs("git", argv))
    if name in ("sed", "awk", "yq", "jq", "perl"):
        return any(map(_IN_PLACE.fullmatch, argv[1:]))
    if name in ("cp", "tee"):
        last = argv[-1] if name == "cp" else ""
        return is_guard_setting(last) or is_guard_data(last) or name == "tee"
    if name in ("python", "node"):
        return any(map(_WRITING_CODE.search, argv[1:]))
    return name not in _LOOKING


def _patches_settings(walk: Walk, call: ProgramCall) -> bool:
    """A patch in the command that names one of these files."""
    if call.name not in _PATCHING and not (
        call.name == "git" and {"apply", "am"} & set(list_verbs("git", call.argv))
    ):
        return False
    return any(
        is_guard_setting(found[1].strip())
        for text in list_code(walk, call)
        for found in _PATCHED.finditer(text)
    )


def writes_guard_file(program: str) -> bool:
    """A program that opens one of these files for writing."""
    if not _WRITING_CODE.search(program):
        return False
    return _OWN_CODE.search(program) is not None or any(
        is_guard_setting(found[1]) or is_guard_data(found[1])
        for found in _QUOTED.finditer(program)
    )


def _loosens_policy(call: ProgramCall) -> bool:
    """`sed -i s/block/allow/ policy.json`, in place or into a file that replaces it."""
    words = call.argv[1:]
    code = " ".join(words)
    if call.name in ("python", "node"):
        named = any(is_policy_file(found[1]) for found in _QUOTED.finditer(code))
        return named and bool(_WRITING_CODE.search(code) and _LOOSENED.search(code))
    if not any(map(is_policy_file, words)) or _LOOSENED.search(code) is None:
        return False
    written = any(redirect.operator in _WRITTEN for redirect in call.simple.redirects)
    return written or any(map(_IN_PLACE.fullmatch, words))


def _replaces_client(call: ProgramCall) -> bool:
    """The client's own program, by its path or by `which`."""
    if call.name not in _REPLACING:
        return _is_changing(call) and any(
            _CLIENT.search(str(word))
            for item in list_substituted(*call.simple.words[1:])
            for word in item.words
        )
    if any(map(_PROGRAM.fullmatch, call.argv[1:])):
        return True
    if call.name in ("chmod", "ln") and any(map(_SHADOW.fullmatch, call.argv[2:])):
        return True
    for item in list_substituted(*call.simple.words[1:]):
        if "checkrail" in item.words:
            return True
    return any(
        resolve_program(word) == "checkrail" and "/" in word and "bin" in word
        for word in call.argv[1:]
    )


def _is_guard_process(target: str | Word) -> bool:
    """`/proc/$(pgrep claude)/fd/0`, `$(python -c 'import checkrail; …')`."""
    return any(
        _PROCESS.search(str(word))
        for item in list_substituted(target)
        for word in item.words
    )


def _names_variable(call: ProgramCall) -> bool:
    """A file below a folder that only a variable of the guard names."""
    return call.first >= 0 and any(
        isinstance(piece, Variable) and _PLACE_SETTING.fullmatch(piece.name)
        for word in call.simple.words[1:]
        if isinstance(word, Word)
        for piece in word.pieces
    )
