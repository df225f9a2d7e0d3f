"""Scripts that only look around, such as are fed to a shell on another machine."""

from __future__ import annotations

import re

from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.word_lists import split_names

_LONGEST = 4_000
_ENDS = re.compile(r"&&|\|\||[;|\n]")
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n$`]*\"")
# Nothing is written, run in between, or sent into the background.
_CHANGES = re.compile(
    r"`|\$\(|<\(|<<|>(?!\s*/dev/null\b|&[12]\b)|&(?![&12]|>)|\bsudo\b"
)
_LOOKING = split_names(
    "ls cat head tail less grep egrep zgrep wc sort uniq cut tr df du free uptime ps pgrep top "
    "vmstat iostat lscpu lsblk nproc uname hostname hostnamectl whoami id who w last date echo "
    "printf pwd cd set stat file which ss netstat lsof journalctl dmesg true test [ jq nvidia-smi "
    "tree realpath readlink basename dirname md5sum sha256sum timedatectl lsb_release"
)
_VERBS = {
    "git": split_names("log status diff show branch rev-parse describe remote"),
    "docker": split_names("ps logs images stats inspect version info top port"),
    "kubectl": split_names("get describe logs top version"),
    "systemctl": split_names("status is-active is-enabled list-units show --failed"),
    "ip": split_names("a addr route link"),
}
_RESHAPING = re.compile(
    r"-(?:D|d|m|f|X)\b|--(?:delete|move|force|vacuum\S*|rotate)\b|-C\b"
)


def is_only_looking(text: str) -> bool:
    """Every command of the script is one that shows something."""
    if len(text) > _LONGEST:
        return False
    plain = _QUOTED.sub("x", text)
    if _CHANGES.search(plain):
        return False
    return all(map(_is_looking, _ENDS.split(plain)))


def _is_looking(command: str) -> bool:
    words = command.split()
    if not words or words[0].startswith("#"):
        return True
    name = resolve_program(words[0])
    if name in _LOOKING:
        return name != "journalctl" or not _RESHAPING.search(command)
    verbs = _VERBS.get(name)
    return (
        verbs is not None
        and len(words) > 1
        and words[1] in verbs
        and not (name == "git" and words[1] in ("branch", "remote") and len(words) > 2)
    )
