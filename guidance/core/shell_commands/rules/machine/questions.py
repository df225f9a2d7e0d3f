"""Conditions of the rules about one machine: processes, services, permissions."""

from __future__ import annotations

import re

from guidance.core.shell_commands.paths import is_root
from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.word_lists import split_names

# They lose what they have not written, or take everything else with them.
_DATABASES = split_names(
    "postgres postmaster mysqld mariadbd mongod redis-server valkey-server memcached "
    "etcd sqlservr oracle clickhouse-server elasticsearch cassandra rabbitmq-server beam.smp "
    "dockerd containerd kubelet libvirtd"
)
# Everybody's programs run under these names.
_INTERPRETERS = split_names(
    "node python python3 java ruby php perl bash sh zsh fish tmux screen ssh docker code "
    "chrome firefox"
)
_SYSTEM = split_names("systemd init sshd dbus-daemon Xorg gnome-shell login launchd")
_KILLING = (
    "-9",
    "-KILL",
    "-SIGKILL",
    "/f",
    "-force",
    "-s=9",
    "-s=KILL",
    "--signal=KILL",
)
_ACCESS = re.compile(
    r"(?:ssh|sshd|network|networking|NetworkManager|systemd-networkd|systemd-resolved"
    r"|firewalld|ufw|nftables|iptables|tailscaled|wpa_supplicant|auditd|fail2ban)"
    r"(?:\.service|\.socket)?"
)
# No way into a folder any more: x taken from its owner, or not among what is set.
_SYSTEM_PROGRAM = re.compile(
    r"(?:/usr)?/(?:s?bin|lib(?:64|32)?)/|/etc/?\Z|/(?:usr|var)/?\Z"
)
_DATA_SERVICE = re.compile(
    r"(?:postgres|mysql|mariadb|mongo|redis|elasticsearch|rabbitmq|docker|containerd"
    r"|kubelet|etcd|cassandra|influx|clickhouse|mssql|sqlserver|vault|consul)"
)
_NO_ENTRY = re.compile(
    r"(?:[ugo]*[ua][ugo]*)?-[rw]*x[rwx]*|0?[0246][0-7]{2}|(?:[ugo]*[ua][ugo]*)=[rw]*"
)
_RESETS_DRIVE = re.compile(
    r"[a-z]:[\\/]*(?:\*|windows|users|program files)?[\\/]*\s.*"
    r"/(?:reset|grant|deny|setowner|remove|inheritance|r)\b",
    re.IGNORECASE,
)
_OUTGOING = re.compile(r"\b(?:output|outbound|dir=out)\b", re.IGNORECASE)
_REFUSING = re.compile(r"\b(?:drop|reject|block)\b", re.IGNORECASE)


def _kills_many(found: Invocation) -> bool:
    named = found.flags.get("-name", "")
    names = {
        word.lower().removesuffix(".exe") for word in (*found.operands, named) if word
    }
    if not names.isdisjoint(_SYSTEM):
        return True
    if not any(found.has(flag) for flag in _KILLING):
        return False
    # One of them alone is how people stop their own server.
    return not names.isdisjoint(_DATABASES) or len(names & _INTERPRETERS) > 1


def _holds_mount(found: Invocation) -> bool:
    """fuser -k of a file system, not of one port."""
    mounted = found.has("-m") or found.has("--mount")
    return any(is_root(word) or mounted for word in found.operands)


def _bars_program(found: Invocation) -> bool:
    """A program or library of the system that nobody may use any more."""
    return any(_SYSTEM_PROGRAM.match(path) for path in found.operands) and any(
        _NO_ENTRY.fullmatch(word) for word in found.modes
    )


def _needs_service(found: Invocation) -> bool:
    words = {word.lower().removesuffix(".service") for word in found.operands}
    return any(_DATA_SERVICE.match(word) for word in words)


def _guards_access(found: Invocation) -> bool:
    return any(_ACCESS.fullmatch(word) for word in found.operands[1:])


def _stops_access(found: Invocation) -> bool:
    return found.operands[1:2] == ["stop"] and bool(
        _ACCESS.fullmatch(found.operands[0])
    )


def _makes_smaller(found: Invocation) -> bool:
    sizes = [found.flags.get(flag, "") for flag in ("-L", "--size", "-l", "--extents")]
    return any(size.startswith("-") for size in sizes)


def _bars_folders(found: Invocation) -> bool:
    return any(
        _NO_ENTRY.fullmatch(part) for word in found.modes for part in word.split(",")
    )


def _is_drive_reset(found: Invocation) -> bool:
    """Another shell takes the backslash after the colon for a sign of its own."""
    words = [word for word in found.argv[1:] if word.lower() != "/f"]
    return _RESETS_DRIVE.match(" ".join(words)) is not None


def _blocks_outgoing(found: Invocation) -> bool:
    """Nothing is let out: to one address, one port, or at all."""
    words = " ".join(found.argv[1:])
    return _OUTGOING.search(words) is not None and _REFUSING.search(words) is not None


def _is_any_number(found: Invocation) -> bool:
    """What is named comes from elsewhere, as under xargs."""
    return found.open_ended


QUESTIONS: dict[str, Question] = {
    "any-number": _is_any_number,
    "any-mount": _holds_mount,
    "bars-program": _bars_program,
    "blocks-outgoing": _blocks_outgoing,
    "drive-reset": _is_drive_reset,
    "guards-access": _guards_access,
    "kills-many": _kills_many,
    "needs-service": _needs_service,
    "no-entry": _bars_folders,
    "smaller": _makes_smaller,
    "stops-access": _stops_access,
}
