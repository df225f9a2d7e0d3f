"""The conditions that patterns name, as functions of an invocation."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.disposable.scratch_names import is_scratch_name
from guidance.core.shell_commands.disposable.searched_names import finds_only_disposable
from guidance.core.shell_commands.paths import (
    is_device,
    is_disposable,
    is_generated,
    is_image,
    is_plain_name,
    is_root,
    is_sink,
    is_system_file,
    is_temporary,
    is_temporary_root,
)
from guidance.core.shell_commands.rules.files.valuable_files import (
    is_own_data,
    is_own_log,
)
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.shell.tree import UNKNOWN

# Tests of find that pick by a name which begins with something of its own.
_NAMING = ("-name", "-iname", "-user")
_FILE_NAME = re.compile(
    r"(?:[^/]*/)*[^/]*\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|json|md|rst|txt|toml|ya?ml|lock|cfg"
    r"|ini|html?|css|scss|go|rs|c|h|cc|cpp|hpp|java|kt|rb|php|sh|sql|xml|csv|tf|vue|svelte)"
)
_LOCK_FILE = re.compile(
    r"(?:[\w.@-]+/)*(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml"
    r"|bun\.lockb?|(?:Cargo|Gemfile|Pipfile|poetry|uv|pdm|composer|mix|flake|pubspec|Podfile"
    r"|packages|gradle|deno)\.lock|go\.sum|Package\.resolved)"
)
# Settings of a project's tools, which stand in its version control.
_TOOL_SETTING = re.compile(
    r"(?:[\w@-][\w.@-]*/)*\.(?:(?:eslint|prettier|stylelint|babel|swc|mocha|nyc|jshint|jscs"
    r"|tslint|lintstaged|husky|browserslist|commitlint|npm|docker|postcss|release-it|c8)"
    r"(?:rc|ignore)(?:\.(?:json5?|c?js|mjs|ts|ya?ml|toml))?|flake8|pylintrc|coveragerc"
    r"|isort\.cfg|rubocop(?:_todo)?\.yml|editorconfig|travis\.yml|pre-commit-config\.yaml"
    r"|golangci\.ya?ml|markdownlint\.(?:json|ya?ml)|nvmrc|node-version|python-version)"
)
_FEW = 20
_DRIVE = re.compile(r"[A-Za-z]:[\\/]?")
_NO_ACCESS = re.compile(r"0{1,4}|[ugoa]*-[rwxX]*[rwx]{2,}[rwxX]*|a=|ugo=")
_LOCAL = re.compile(
    r"(?:https?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)"
)
# Stores that a DELETE empties, also on this machine: search engines, key-value stores.
_STORE = re.compile(
    r":(?:9[23]00|6333|7700|8108|5984|8983|8086|2379|15672|8500|8200|8529|19530|8123)\b"
    r"|--unix-socket="
)
# Another method than the one that is sent, in a header or a parameter.
_OVERRIDE = compile_byte_pattern(
    r"\bx-(?:http-)?method(?:-override)?\s*[:=]\s*delete\b|\b_method=delete\b",
    ignore_case=True,
)
_STORE_INDEX = re.compile(r":\d{4,5}/([\w.-]+)\*?(?:[\s?]|/?\Z)")
_NUMBERED = re.compile(
    r"redis://(?:[^@/\s]*@)?(?:localhost|127\.0\.0\.1)(?::\d+)?/(\d+)\Z"
)
# `http DELETE :8000/items/3`: without a host it is this machine.
_OWN_PORT = re.compile(r":\d*/")
_FLUSHES = frozenset(("flushall", "flushdb", "shutdown", "cluster", "swapdb"))
_ROUTINE = frozenset(
    ("delete-message", "delete-message-batch", "delete-item", "remove-tags")
)
_METHOD = re.compile(r"-[a-zA-WYZ]*X(.+)")
_SIGNALS = re.compile(r"-(?:\d+|[A-Z]+\d*|s|n|l|L|-\w+)")


def _is_outside(found: Invocation) -> bool:
    """Anything that is not temporary, made just now, or made again by a tool."""
    if found.open_ended:
        return True
    return any(not _is_harmless(found, path) for path in found.operands) or any(
        _leads_out(found, path) for path in found.operands
    )


def _is_harmless(found: Invocation, path: str) -> bool:
    if len(path) > 4096:
        return False
    return (
        path == "/dev/null"
        or path.removeprefix("./") in found.made
        or is_temporary(path, folder=found.folder)
        or is_disposable(path, found.disposable)
        or (not found.left and _is_leftover(path))
    )


def _is_leftover(path: str) -> bool:
    """One file that a compiler, an editor or a merge has left, by its name."""
    folder, _, name = path.removeprefix("./").rpartition("/")
    return (
        "*" not in path
        and is_generated(name)
        and not name.endswith(".egg-info")
        and (not folder or is_plain_name(folder))
    )


def _is_named(found: Invocation) -> bool:
    """A few files of the working folder, each by its plain name."""
    if found.open_ended or found.left or len(found.operands) > _FEW:
        return False
    return all(
        (is_plain_name(path) and not is_own_data(path))
        or _TOOL_SETTING.fullmatch(path)
        or _is_harmless(found, path)
        for path in found.operands
    ) and not any(_leads_out(found, path) for path in found.operands)


def _leads_out(found: Invocation, path: str) -> bool:
    """Something was moved there, or a link there leads elsewhere."""
    path += "/"
    return any(
        path.startswith(f"{moved}/") or f"{moved}/".startswith(path)
        for moved in found.moved
    ) or any(
        path.startswith(f"{linked}/") and len(path) > len(linked) + 1
        for linked in found.linked
    )


def _search(found: Invocation) -> bool:
    """`find` without a folder begins in the working folder."""
    places: list[str] = []
    for word in found.argv[1:]:
        if word in ("-L", "-P", "-H"):
            continue
        if word[:1] in ("-", "(", "!"):
            break
        places.append(word)
    if finds_only_disposable(found.argv, found.disposable):
        return False
    named = any(found.flags.get(flag, "*")[:1] not in "*?[" for flag in _NAMING)
    return any(
        not is_temporary(place, folder=found.folder)
        and not (named and is_temporary_root(place.rstrip("/")))
        for place in places or ["."]
    )


def _shrinks(found: Invocation) -> bool:
    if found.operands and all(map(is_own_log, found.operands)) and not found.left:
        return False
    size = found.flags.get("-s") or found.flags.get("--size") or ""
    if size[:1].isdigit() and size.strip("0") and all(map(is_image, found.operands)):
        return False
    return not size.startswith((">", "+", "%"))


def _writes_into_nothing(found: Invocation) -> bool:
    return found.operands[-1:] == ["/dev/null"] or found.flags.get("-t") == "/dev/null"


def _is_root(found: Invocation) -> bool:
    # The first operand is an owner or a mode, unless that comes from another file.
    paths = found.operands if found.has("--reference") else found.operands[1:]
    return found.open_ended or any(
        is_root(path) or path.startswith(UNKNOWN) for path in paths
    )


def _is_each_of_root(found: Invocation) -> bool:
    """One by one, as find -exec does, comes to the same."""
    return any(is_root(path) for path in found.more)


def _takes_all_access(found: Invocation) -> bool:
    return any(_NO_ACCESS.fullmatch(word) for word in found.modes)


def _is_system_file(found: Invocation) -> bool:
    return any(is_system_file(path) for path in found.operands)


def _prints_over(found: Invocation) -> bool:
    """find -fprint and its like write to a file."""
    flags = ("-fprint", "-fprint0", "-fprintf", "-fls")
    return any(is_system_file(found.flags.get(flag, "")) for flag in flags)


def _writes_into_system_file(found: Invocation) -> bool:
    return any(is_system_file(path) for path in found.operands[-1:])


def _writes_into_device(found: Invocation) -> bool:
    last = found.operands if found.name == "tee" else found.operands[-1:]
    return any(is_device(path) for path in last)


def _is_written(found: Invocation) -> bool:
    for word in found.operands:
        if word.startswith("of="):
            target = word[3:]
            if not (
                is_sink(target)
                or is_temporary(target, folder=found.folder)
                or (is_scratch_name(target) and not is_image(target))
            ):
                return True
    return False


def _drive(found: Invocation) -> bool:
    return any(_DRIVE.fullmatch(word) for word in found.operands[:1])


def _has_any(found: Invocation) -> bool:
    return bool(found.operands) or found.open_ended


def _has_forced_ref(found: Invocation) -> bool:
    return any(word.startswith("+") for word in found.operands[1:])


def _has_deleted_ref(found: Invocation) -> bool:
    return any(word.startswith(":") and len(word) > 1 for word in found.operands[1:])


def _is_lock_file(path: str) -> bool:
    return _LOCK_FILE.fullmatch(path) is not None


def _has_pathspec(found: Invocation) -> bool:
    """`git checkout` of paths, not of a branch."""
    words = found.operands[1:]
    if "--" in found.argv:
        words = found.argv[found.argv.index("--") + 1 :]
    restores = "--" in found.argv and len(found.operands) == len(words) + 1
    conflict = bool(words) and found.has_any(("--ours", "--theirs"))
    if (restores or conflict) and all(map(_is_lock_file, words)):
        # What a package manager writes it writes again.
        return False
    if conflict:
        return True
    if "--" in found.argv[2:]:
        return found.argv[-1] != "--"
    if len(words) > 1:
        return True
    return any(
        word in (".", "./", "*", ":/", "..")
        or word.startswith(("./", "../", ":/", ":("))
        or _FILE_NAME.fullmatch(word) is not None
        for word in words
    )


def _is_worktree(found: Invocation) -> bool:
    if found.has_any(("--ours", "--theirs")) and not _has_pathspec(found):
        return False
    if len(found.operands) < 2 and not found.has("--pathspec-from-file"):
        return False
    if all(map(_is_lock_file, found.operands[1:])):
        return found.has("--pathspec-from-file")
    staged = found.has("-S") or found.has("--staged")
    return not staged or found.has("-W") or found.has("--worktree")


def _is_everything(found: Invocation) -> bool:
    """kill of -1, or of init: the first argument may be the signal."""
    words = [word for word in found.argv[1:] if word != "--"]
    if "-l" in words or "-L" in words:
        return False
    signalled = bool(words) and _SIGNALS.fullmatch(words[0]) is not None
    if words[:1] == ["-0"] or words[:2] in (["-s", "0"], ["-n", "0"], ["-s", "EXIT"]):
        # Only asks whether it is there.
        return False
    if signalled and len(words) > 1:
        words = words[2:] if words[0] in ("-s", "-n") else words[1:]
    elif signalled:
        return False
    return any(word in ("-1", "1") for word in words)


def _has_any_name(found: Invocation) -> bool:
    return any(word in (".", ".*", "", "*") for word in found.operands)


def _is_dropping(found: Invocation) -> bool:
    return any(word.upper() in ("DROP", "REJECT") for word in found.argv)


def _is_removing(found: Invocation) -> bool:
    """pacman -R in any bundle, but not pacman -Qr."""
    return any(word.startswith(("-R", "--remove")) for word in found.argv[1:])


def _is_scratch_database(found: Invocation) -> bool:
    """One of the numbered ones on this machine, such as tests use."""
    address = _NUMBERED.match(found.flags.get("-u", ""))
    if address is not None:
        return address[1] != "0"
    local = found.flags.get("-h", "") in ("localhost", "127.0.0.1", "::1")
    return local and found.flags.get("-n", "0") not in ("0", "")


def _is_flushing(found: Invocation) -> bool:
    words = [word.lower() for word in found.operands[:2]]
    if words[:1] in (["eval"], ["evalsha"]):
        return "flush" in "".join(words[1:])
    if words[:1] == ["flushdb"] and _is_scratch_database(found):
        return False
    if words[:1] and words[0] in _FLUSHES:
        return words[0] != "cluster" or words[1:] == ["reset"]
    # Keys by the armful, as xargs brings them.
    return words[:1] in (["del"], ["unlink"]) and found.open_ended


def _is_no_image(found: Invocation) -> bool:
    """A file that holds a disk is not a disk."""
    return not found.operands or not (
        is_image(found.operands[0])
        or is_temporary(found.operands[0], folder=found.folder)
    )


def _is_starting(found: Invocation) -> bool:
    """socat with a program at one of its ends."""
    return any(
        word.lower().startswith(("exec:", "system:", "shell:"))
        for word in found.operands
    )


def _is_not_routine(found: Invocation) -> bool:
    return not any(word in _ROUTINE for word in found.operands[1:2])


def _is_deleting(found: Invocation) -> bool:
    method = ""
    for flag in ("-X", "--request", "--method", "-method"):
        method = method or found.flags.get(flag, "")
    for word in found.argv[1:]:
        bundle = _METHOD.fullmatch(word)
        if bundle:
            method = bundle[1]
    if not method and found.name == "http" and found.operands:
        method = found.operands[0]
    # All words at once: each search for itself costs more than they do (bench: "a request").
    words = encode_one_byte("\0".join(found.argv[1:]))
    if method.strip("'\"=").upper() != "DELETE" and not _OVERRIDE.search(words):
        return False
    if "--unix-socket" in found.flags:
        return True
    places = " ".join(word for word in found.argv if "/" in word or ":" in word)
    own = found.name == "http" and any(map(_OWN_PORT.match, found.operands[1:]))
    if not own and not _LOCAL.search(places):
        return True
    index = _STORE_INDEX.search(places)
    return bool(_STORE.search(places)) and not (
        index is not None and is_scratch_name(index[1])
    )


QUESTIONS: dict[str, Question] = {
    "any": _has_any,
    "any-name": _has_any_name,
    "deleted-ref": _has_deleted_ref,
    "deleting": _is_deleting,
    "drive": _drive,
    "each-of-root": _is_each_of_root,
    "dropping": _is_dropping,
    "everything": _is_everything,
    "flushing": _is_flushing,
    "forced-ref": _has_forced_ref,
    "into-device": _writes_into_device,
    "into-nothing": _writes_into_nothing,
    "into-system-file": _writes_into_system_file,
    "named": _is_named,
    "no-access": _takes_all_access,
    "no-image": _is_no_image,
    "not-routine": _is_not_routine,
    "outside": _is_outside,
    "pathspec": _has_pathspec,
    "prints-over": _prints_over,
    "removing": _is_removing,
    "root": _is_root,
    "search": _search,
    "shrinks": _shrinks,
    "starting": _is_starting,
    "system-file": _is_system_file,
    "worktree": _is_worktree,
    "written": _is_written,
}
