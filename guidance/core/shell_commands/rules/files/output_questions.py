"""Conditions of the rules about programs that write over sources or edit in place."""

from __future__ import annotations

import re

from guidance.core.shell_commands.paths import is_root, is_source, is_temporary
from guidance.core.shell_commands.rules.files.valuable_files import (
    is_home_setting,
    is_own_data,
)
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question

_OUTPUT = ("-o", "--output", "-fprint", "-fprintf", "-fls", "-fprint0", "--out")
# Programs of perl and ruby after which nothing is printed, or nothing is left of a line.
_PRINTS = re.compile(
    r"\b(?:print|printf|say|puts|p|putc|write|warn)\b(?!\s+if\s+(?:0|false)\b)"
)
_LEAVES_NOTHING = re.compile(
    r"\$_\s*=\s*(?:\"\"|''|undef)|\bundef\s*\(?\s*\$_|\breplace\s*\(?\s*(?:\"\"|'')"
    r"|s(?P<sign>[/|#,!])\^?\.\*\$?(?P=sign)(?P=sign)|(?<!\w)s\{\.\*\}\{\}"
)
# Programs of awk that match no line.
_MATCHES_NONE = re.compile(
    r"\s*(?:|BEGIN\s*\{\s*\}|0|!1|\{\s*\}|1\s*==\s*0|NR\s*>\s*\d{5,}|\"\")\s*"
)
_PLACE = re.compile(r"(?:~|\$HOME|/home/[^/]+|/root)/\.[\w-]+/?")
_TREE = re.compile(
    r"(?:~|/home/[^/]+|/Users/[^/]+|/root|/srv|/mnt|/media|/data)/[A-Za-z][\w-]*/?"
    r"(?:\*\*(?:/\*[\w.]*)?)?"
)
_LIVE = re.compile(r"(?:/var/www|/srv|/opt)/.*\b(?:current|live|production|latest)/?")


def _writes_over_source(found: Invocation) -> bool:
    """The output is named like a source or like own data, which no output is."""
    words = found.argv
    given = [value for flag, value in found.flags.items() if flag in _OUTPUT and value]
    given += [
        words[place + 1] for place in range(len(words) - 1) if words[place] in _OUTPUT
    ]
    return any(
        (is_source(path) or is_own_data(path))
        and not is_temporary(path, folder=found.folder)
        and path.removeprefix("./") not in found.made
        for path in given
    )


def _leaves_nothing(found: Invocation) -> bool:
    """perl -i and ruby -i with a program that prints nothing."""
    codes = [
        found.argv[place + 1]
        for place, word in enumerate(found.argv[:-1])
        if word[:1] == "-" and word[1:2] != "-" and word[-1:] in ("e", "E")
    ]
    if not codes:
        return False
    code = " ".join(codes)
    bundle = "".join(word for word in found.argv[1:] if word[:1] == "-" != word[1:2])
    if "p" in bundle:
        return _LEAVES_NOTHING.search(code) is not None
    return "n" in bundle and _PRINTS.search(code) is None


def _edits_tree(found: Invocation) -> bool:
    """In place, in all files below the system, a home, or a folder of somebody's."""
    return any(
        (is_root(path) or _TREE.fullmatch(path) is not None)
        and not is_temporary(path, folder=found.folder)
        for path in found.operands
    )


def _answers_over_key(found: Invocation) -> bool:
    """It asks before it replaces a key, and is told yes."""
    path = found.flags.get("-f", "") or "~/.ssh/id_rsa"
    return found.answered and is_own_data(path) and not is_temporary(path)


def _matches_no_line(found: Invocation) -> bool:
    """awk -i inplace with a program that prints no line."""
    return "inplace" in found.argv and any(
        _MATCHES_NONE.fullmatch(word) for word in found.argv[1:]
    )


def _downloads_into_home(found: Invocation) -> bool:
    """Into a folder of settings, under a name that the server chooses."""
    words = found.argv
    return any(
        words[place] in ("--output-dir", "-P", "--directory-prefix", "-d", "--dir")
        and (_PLACE.fullmatch(words[place + 1]) or is_home_setting(words[place + 1]))
        for place in range(len(words) - 1)
    )


def _is_live(found: Invocation) -> bool:
    """What a server delivers just now."""
    return bool(found.operands) and _LIVE.fullmatch(found.operands[-1]) is not None


def _reverses_own(found: Invocation) -> bool:
    """A patch that this command has made of the changes that are there."""
    return any(path.removeprefix("./") in found.made for path in found.operands)


QUESTIONS: dict[str, Question] = {
    "downloads-into-home": _downloads_into_home,
    "edits-tree": _edits_tree,
    "over-own-key": _answers_over_key,
    "leaves-nothing": _leaves_nothing,
    "live-place": _is_live,
    "matches-no-line": _matches_no_line,
    "over-source": _writes_over_source,
    "reverses-own": _reverses_own,
}
