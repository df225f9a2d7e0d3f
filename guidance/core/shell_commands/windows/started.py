"""Windows programs that start others: what they start is judged."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall

_LONGEST_FLAG = 12
# Options of Start-Process without a value.
_SWITCHES = ("-wait", "-nonewwindow", "-passthru", "-useneweenvironment", "-w", "-nnw")


def find_started(call: ProgramCall) -> str:
    """The command line that is started, empty if there is none."""
    find = _FINDERS.get(call.name)
    return find(call.argv) if find is not None else ""


def _find_after_flags(argv: list[str]) -> str:
    """start /b "" cmd …, conhost --headless cmd …, psexec \\\\host cmd …"""
    for place in range(1, len(argv)):
        word = argv[place]
        flag = word[:1] in ("/", "-") and len(word) < _LONGEST_FLAG
        if word and not flag and not word.startswith("\\\\"):
            return " ".join(argv[place:])
    return ""


def _find_after_entry(argv: list[str]) -> str:
    """rundll32 library,ShellExec_RunDLL cmd …"""
    for place, word in enumerate(argv):
        if "shellexec" in word.lower():
            return " ".join(argv[place + 1 :])
    return ""


def _find_macro(argv: list[str]) -> str:
    """doskey name=cmd …"""
    return " ".join(argv[1:]).partition("=")[2]


def _find_last(argv: list[str]) -> str:
    """runas /user:x "cmd …", wmic process call create "cmd …"."""
    return argv[-1] if len(argv) > 1 else ""


def _find_created(argv: list[str]) -> str:
    words = [word.lower() for word in argv]
    return argv[-1] if "call" in words and "create" in words[:-1] else ""


def _find_scheduled(argv: list[str]) -> str:
    """schtasks /create … /tr "cmd …"."""
    words = [word.lower() for word in argv]
    if "/tr" in words[:-1]:
        return argv[words.index("/tr") + 1]
    return ""


def _find_proxied(argv: list[str]) -> str:
    """pcalua -a cmd -c "/c …"."""
    return " ".join(
        argv[argv.index(flag) + 1] for flag in ("-a", "-c") if flag in argv[:-1]
    )


def _find_process(argv: list[str]) -> str:
    """Start-Process cmd -ArgumentList '/c', '…'."""
    program, arguments = "", []
    taking = ""
    for word in argv[1:]:
        lower = word.lower()
        if (
            word[:1] == "-"
            and lower[1:2].isalpha()
            and " " not in word
            and taking != "arguments"
        ):
            taking = "" if lower in _SWITCHES else lower
            if lower.startswith(("-a", "-fi")):
                taking = "arguments" if lower.startswith("-a") else "program"
        elif taking == "arguments":
            if lower in _SWITCHES or lower.startswith(("-verb", "-windowstyle")):
                taking = ""
            else:
                arguments.append(word)
        elif taking == "program" or (not program and not taking):
            program, taking = word, ""
        elif not taking:
            arguments.append(word)
        else:
            taking = ""
    return " ".join((program, *arguments))


_FINDERS = {
    **dict.fromkeys(
        ("start", "conhost", "psexec", "psexec64", "winrs"), _find_after_flags
    ),
    "rundll32": _find_after_entry,
    "doskey": _find_macro,
    "runas": _find_last,
    "wmic": _find_created,
    "schtasks": _find_scheduled,
    "pcalua": _find_proxied,
    **dict.fromkeys(("start-process", "saps"), _find_process),
}
STARTERS = frozenset(_FINDERS)
ALIASING = frozenset(("sal", "set-alias", "nal", "new-alias"))
