"""Harmless words, options, assignments, comments, newlines and commands around a command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from typing import NamedTuple

from guidance.core.shell_commands.unwrap.wrappers import WRAPPERS

Pad = Callable[[str, int], str]


class Padding(NamedTuple):
    """`pad` adds so many harmless things to a text that `fits`."""

    name: str
    pad: Pad
    fits: Callable[[str], bool] = bool


def _put_before(harmless: str) -> Pad:
    return lambda text, count: harmless * count + text


def _put_behind(harmless: str) -> Pad:
    return lambda text, count: text + harmless * count


_SIMPLE = re.compile(r"[a-z][\w.+-]*(?: [\w./:=@%+,-]+)*")
# Such texts are read as SQL alone, and so is what stands around them.
_SQL = re.compile(
    r"\s*(?:(?:--[^\n]*\n|/\*[^*]*\*/)\s*)*(?:delete|drop|truncate|update|alter|merge|grant"
    r"|with|explain|insert|select|create|begin|replace|revoke|do \$|start t|use \w+;|do \$)",
    re.IGNORECASE,
)
_KEYWORDS = frozenset(
    [
        "if",
        "for",
        "while",
        "until",
        "case",
        "select",
        "function",
        "then",
        "do",
        "cd",
        "time",
        "coproc",
    ]
)
# Their operands are files, each one for itself.
_FILE_PROGRAMS = frozenset(["rm", "shred", "chmod", "chown", "cat", "unlink", "rmdir"])
# What may stand behind their names, and changes nothing.
_OPTIONS = {
    "git": ("-c note.a=b", "--no-pager", "-C ."),
    "curl": ("-s", "-H a:b", "--max-time 5"),
    "wget": ("-q", "--tries 3"),
    "kubectl": ("-v 1", "--context a", "--request-timeout 5s", "--as a", "--user a"),
    "helm": ("--debug", "--kube-context a", "--namespace a"),
    "docker": ("--log-level info", "--context a", "-D", "-H a", "--config a"),
    "podman": ("--log-level info", "--connection a", "--root a"),
    "aws": ("--no-cli-pager", "--profile a", "--region a", "--output json"),
    "gcloud": ("--quiet", "--project a", "--verbosity info"),
    "az": ("--only-show-errors", "--subscription a"),
    "terraform": ("-chdir=.",),
    "psql": ("-q", "-v a=b", "-U a"),
    "mysql": ("-v", "-u a"),
    "redis-cli": ("--no-auth-warning", "-u a"),
    "python3": ("-B", "-W ignore", "-X dev"),
    "node": ("--trace-warnings", "--max-old-space-size=99"),
    "bash": ("-x", "-o pipefail"),
    "ssh": ("-v", "-o a=b", "-i a"),
    "sudo": ("-E", "-u root", "NOTE=1"),
    "env": ("NOTE=1", "-u NOTE"),
    "npm": ("--silent", "--prefix ."),
    "gh": ("-R a/b", "--repo a/b"),
    "systemctl": ("--no-pager", "-H a"),
    "make": ("-s", "-C ."),
    **dict.fromkeys(("rm", "cp", "mv", "chmod", "chown", "shred"), ("-v",)),
}
_CODE = {
    **dict.fromkeys(("python", "python3"), ("-c", "#", "x = 1")),
    **dict.fromkeys(("node", "bun"), ("-e", "//", "x = 1;")),
    "ruby": ("-e", "#", "x = 1"),
    "perl": ("-e", "#", "$x = 1;"),
    "php": ("-r", "//", "$x = 1;"),
    **dict.fromkeys(("psql", "mysql"), ("", "--", "SELECT 1;")),
}


def is_simple(text: str) -> bool:
    """One program with plain words."""
    return (
        _SIMPLE.fullmatch(text) is not None
        and text.partition(" ")[0] not in _KEYWORDS
        and not is_sql(text)
    )


def is_sql(text: str) -> bool:
    return _SQL.match(text) is not None


def is_shell(text: str) -> bool:
    return not is_sql(text)


def _takes_files(text: str) -> bool:
    return is_simple(text) and text.partition(" ")[0] in _FILE_PROGRAMS


def _find_code(text: str) -> tuple[list[str], int, tuple[str, str, str]] | None:
    """The words of one interpreter or client, and which of them its program is."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if shlex.join(words).count("'") != text.count("'") or '"' in text.split("'")[0]:
        return None
    sort = _CODE.get(words[0]) if words else None
    if sort is None:
        return None
    option = sort[0] or ("-c" if words[0] == "psql" else "-e")
    if option not in words[:-1]:
        return None
    return words, words.index(option) + 1, sort


def _pad_code(what: int, *, behind: bool) -> Pad:
    def pad(text: str, count: int) -> str:
        found = _find_code(text)
        assert found is not None
        words, place, sort = found
        line = sort[what] + (" a note" if what == 1 else "")
        code, lines = words[place], [line] * count
        if sort[1] == "--" and behind:
            code += ";"
        words[place] = "\n".join([code, *lines] if behind else [*lines, code])
        return shlex.join(words)

    return pad


def _is_code(text: str) -> bool:
    return _find_code(text) is not None


def _takes_options(text: str) -> bool:
    name, blank, _ = text.partition(" ")
    return bool(blank) and name in _OPTIONS


def _add_options(text: str, count: int) -> str:
    """Each of them in turn."""
    name, _, rest = text.partition(" ")
    known = _OPTIONS[name]
    given = [known[number % len(known)] for number in range(count)]
    return " ".join([name, *given, rest])


def _add_files(text: str, count: int) -> str:
    name, _, rest = text.partition(" ")
    words = rest.split()
    place = next((i for i, word in enumerate(words) if word[:1] != "-"), 0)
    if name in ("chmod", "chown"):
        place += 1
    files = [f"note-{number}.txt" for number in range(count)]
    return " ".join([name, *words[:place], *files, *words[place:]])


BEFORE = (
    "true; ",
    "ls docs\n",
    "# a note\n",
    "\n",
    "A=1; ",
    "export NOTE=1\n",
    "echo one && ",
    'x="$(date)"; ',
    "[ -d docs ] && ",
    "echo 'two words' > /dev/null; ",
    "if true; then echo a; fi\n",
)
BEHIND = (
    "\n",
    "\ntrue",
    "\n# a note",
    "\nA=1",
    "\nls docs",
    "\necho 'two words' | cat",
)
SQL_BEFORE = ("\n", "-- a note\n", "/* a note */ ", "SELECT 1;\n")
SQL_BEHIND = ("\n", "\n-- a note", " /* a note */", ";\nSELECT 1")
ANYWHERE = (
    *(Padding(f"before: {text!r}", _put_before(text), is_shell) for text in BEFORE),
    *(Padding(f"behind: {text!r}", _put_behind(text), is_shell) for text in BEHIND),
    Padding("words before", lambda text, n: f"echo {'word ' * n}; {text}", is_shell),
    Padding("words behind", lambda text, n: f"{text}\necho {'word ' * n}", is_shell),
    Padding(
        "a list before",
        lambda text, n: f"for x in {'word ' * n}; do echo $x; done\n{text}",
        is_shell,
    ),
    Padding(
        "a text before",
        lambda text, n: f"cat > notes.md <<'END'\n{'word ' * n}\nEND\n{text}",
        is_shell,
    ),
    *(Padding(f"before: {text!r}", _put_before(text), is_sql) for text in SQL_BEFORE),
    *(Padding(f"behind: {text!r}", _put_behind(text), is_sql) for text in SQL_BEHIND),
)
WITHIN = (
    Padding("assignments", _put_before("NOTE=1 "), is_simple),
    Padding("redirections", _put_behind(" 2>&1"), is_simple),
    Padding("blanks", lambda text, n: text.replace(" ", " " * (n + 1)), is_simple),
    Padding("lines", lambda text, n: text.replace(" ", " \\\n" * n), is_simple),
    Padding("options", _add_options, _takes_options),
    Padding("files", _add_files, _takes_files),
    Padding("comments before code", _pad_code(1, behind=False), _is_code),
    Padding("comments behind code", _pad_code(1, behind=True), _is_code),
    Padding("statements before code", _pad_code(2, behind=False), _is_code),
    Padding("statements behind code", _pad_code(2, behind=True), _is_code),
)


class Wrapping(NamedTuple):
    """`text` holds {options} and {command}; `option` is one that changes nothing."""

    text: str
    option: str
    quotes: bool = False

    def wrap(self, command: str, *, options: int) -> str:
        inner = shlex.quote(command) if self.quotes else command
        given = f"{self.option} " * options
        return self.text.replace("{options}", given).replace("{command}", inner)


def _list_wrappers() -> list[Wrapping]:
    found = []
    for name, forms in WRAPPERS.items():
        for form in forms:
            taking = sorted(form.taking)
            option = f"{taking[0]} x" if taking else "--quiet"
            words = " ".join((name, *form.words))
            own = "x " * form.skip
            found.append(Wrapping(f"{words} {{options}}{own}{{command}}", option))
    return found


WRAPPINGS = (
    *_list_wrappers(),
    Wrapping("sudo {options}{command}", "-E"),
    Wrapping("sudo {options}-u root {command}", "NOTE=1"),
    Wrapping("env {options}{command}", "NOTE=1"),
    Wrapping("env {options}{command}", "-u NOTE"),
    Wrapping("xargs {options}{command}", "-r"),
    Wrapping("timeout {options}5 {command}", "--foreground"),
    Wrapping("nice {options}{command}", "-n 5"),
    Wrapping("find {options}-exec {command} \\;", "docs"),
    Wrapping("find . {options}-exec {command} +", "-type f"),
    Wrapping("bash {options}-c {command}", "-x", True),
    Wrapping("bash {options}-c {command}", "-o pipefail", True),
    Wrapping("sh -c {command} {options}", "word", True),
    Wrapping("eval {options}{command}", "'true;'", True),
    Wrapping("ssh {options}host {command}", "-v", True),
    Wrapping("ssh {options}host {command}", "-o A=b", True),
    Wrapping("su {options}- bob -c {command}", "-m", True),
    Wrapping("docker exec {options}web sh -c {command}", "-e A=1", True),
    Wrapping("kubectl exec {options}web -- bash -c {command}", "-v 1", True),
    Wrapping("find . {options}-exec sh -c {command} \\;", "-type f", True),
    Wrapping("xargs {options}-I% sh -c {command}", "-r", True),
    Wrapping("watch {options}{command}", "-d", True),
    Wrapping("parallel {options}{command} ::: a b", "--bar", True),
    Wrapping("echo {options}{command} | sh", "'true;'", True),
)
