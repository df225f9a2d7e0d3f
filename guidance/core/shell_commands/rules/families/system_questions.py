"""The conditions of rules about rights and about what stays."""

from __future__ import annotations

import re

from guidance.core.shell_commands.rules.invocation import Invocation
from guidance.core.shell_commands.rules.matching import Question
from guidance.core.shell_commands.sensitive.written_paths import find_written_rule
from guidance.core.shell_commands.word_lists import split_names

_POSTING = ("POST", "PUT", "PATCH", "DELETE")
_RUN_KEY = re.compile(
    r"currentversion\\?/?\\?(?:run|runonce|policies\\explorer\\run|winlogon|image file)"
    r"|\\startup|loginwindow|loginitems|scheduledtask|\bstartup\b|appinit_dlls",
    re.I,
)
_WEAKENED = re.compile(
    r"enablelua|consentpromptbehavior|disableantispyware|disablerealtime|disabletaskmgr"
    r"|localaccounttokenfilterpolicy|gatekeeper|quarantine|firewall|lsarestrict|runasppl"
    r"|windows defender|deviceguard|fdenytsconnections",
    re.I,
)
_LATER = re.compile(
    r"core\.(?:hookspath|fsmonitor|sshcommand|pager|editor|askpass|attributesfile|gitproxy)"
    r"|init\.templatedir|filter\..*\.(?:clean|smudge|process)|diff\.external"
    r"|diff\..*\.(?:command|textconv)|merge\..*\.driver|credential\.helper"
    r"|gpg\.program|sequence\.editor|uploadpack\..*|receive\..*|url\..*insteadof"
    r"|http\.(?:proxy|sslverify)|protocol\.(?:.*\.)?allow",
    re.I,
)
# Programs that show or edit a text, with plain options alone.
_SHOWING = re.compile(r"(?:core\.(?:editor|pager)|sequence\.editor)", re.I)
_SHOWS = re.compile(
    r"(?:vim?|nvim|nano|micro|hx|emacs|emacsclient|code|codium|subl|notepad|true|cat|less"
    r"|more|most|bat|delta|diff-so-fancy)(?: --?[A-Za-z][\w-]*)*"
)
_INSIDE = re.compile(r"(?:\./)?\.?[\w-][\w./-]*")
_SOURCES = re.compile(
    r"(?:.*[:.@])?(?:registry|npmregistryserver|index-url|extra-index-url|index|trusted-host"
    r"|script-shell|git|proxy|https-proxy|strict-ssl|init-module|node-options|mirror\..*|cafile)",
    re.I,
)
_LIFECYCLE = re.compile(
    r"scripts\.(?:pre|post)?(?:install|publish|prepare|pack|version|test|build|start)=?.*"
)
_STRONG = split_names(
    "sudo wheel admin root docker lxd libvirt kvm disk adm shadow administrators podman "
    "incus kmem video systemd-journal"
)
_MODE = re.compile(
    r"[246][0-7]{3}|0[46][0-7]{3}|[ugoa]*u[goa]*[+=][rwxXt]*s[rwxXst]*|a?\+[rwx]*s[rwxst]*"
)
_OPENING = re.compile(r"[0-7]?[0-7]{2}[267]|[ao]*[+=][rx]*w.*|[ugoa]*o[ugoa]*\+.*w.*")
_KERNEL = re.compile(
    r"(?:kernel\.(?:yama|unprivileged|kptr|dmesg|randomize|modules|sysrq|core_pattern|perf_event|kexec)"
    r"|fs\.(?:protected|suid)|user\.max|net\.ipv4\.(?:conf\..*\.(?:rp_filter|accept)|ip_forward)"
    r"|dev\.tty).*=.*"
)
_HOST_MOUNT = re.compile(
    r"(?:.*source=|.*src=)?(?:/|/(?:etc|root|boot|proc|sys|dev|var|home|usr|lib|run|var/lib"
    r"|var/run|var/lib/docker|var/lib/kubelet)/?|(?:/var)?/run/(?:docker|containerd/containerd|crio/crio)\.sock)"
    r"(?::.*|,.*)?"
)
_CAPABILITY = re.compile(
    r"(?:cap_)?(?:all|sys_admin|sys_ptrace|sys_module|dac_override|dac_read_search|sys_rawio|bpf|sys_boot)",
    re.I,
)
_POD = re.compile(
    r"privileged\W{0,4}(?:true|$)|enforce=privileged|hostpid|hostnetwork|hostpath|security\.privileged"
    r"|security\.nesting|container\.apparmor\.security.*unconfined",
    re.I,
)
_RIGHTS = re.compile(
    r"/?(?:orgs/[^/]+/memberships/|.*/collaborators/|.*/branches/.*/protection|.*/rulesets"
    r"|.*/actions/permissions|.*/teams/.*/(?:memberships|repos)/|.*/invitations|orgs/[^/]+/(?:actions|security)"
    r"|.*/members|.*/protected_branches|.*/environments/.*|.*/interaction-limits|.*/vulnerability-alerts).*"
)
_POLICY = re.compile(
    r"(?:token_)?policies=.*(?:root|admin).*|auth/.*|sys/(?:policy|auth|mounts).*"
)
_GRAVE_CONTEXT = re.compile(
    r"(?:.*[-_/.@:])?(?:prod|production|prd|live|admin|root|cluster-admin)(?:[-_/.@:].*)?",
    re.I,
)
_SHELLS = split_names("sh bash zsh dash ash ksh fish")
_MONGO = re.compile(r"grantRolesToUser|createUser\(.*root|userAdminAnyDatabase", re.I)
_HOST_SWITCH = re.compile(
    r"(?:^|[=,.])(?:(?:privileged|host(?:PID|IPC|Network)|allowPrivilegeEscalation)=true"
    r"|runAsUser=0)(?:,|\Z)"
)


def _get_values(found: Invocation, *flags: str) -> list[str]:
    """Every value of a flag that may be given several times, in either form."""
    values = []
    for index, word in enumerate(found.argv):
        name, equals, value = word.partition("=")
        if name in flags:
            if equals:
                values.append(value)
            elif index + 1 < len(found.argv):
                values.append(found.argv[index + 1])
    return values


def find_method(found: Invocation) -> str:
    """The HTTP method of `gh api` and its like."""
    named = _get_values(found, "-X", "--method")
    named += [
        word[2:] for word in found.argv if word.startswith("-X") and len(word) > 2
    ]
    if named:
        return named[-1].upper()
    sends = _get_values(found, "-f", "-F", "--field", "--raw-field", "--input")
    return "POST" if sends else "GET"


def _adds_hook(found: Invocation) -> bool:
    return find_method(found) in _POSTING and any(
        re.fullmatch(
            r"/?(?:.*/)?(?:hooks|keys|deploy_keys|user/keys|gpg_keys|tokens)(?:/.*)?",
            word,
        )
        for word in found.operands
    )


def _grants_rights(found: Invocation) -> bool:
    return find_method(found) in _POSTING and any(
        map(_RIGHTS.fullmatch, found.operands)
    )


def _runs_later(found: Invocation) -> bool:
    """Setting, not reading, something that git runs."""
    reading = (
        "--get",
        "--get-all",
        "--get-regexp",
        "-l",
        "--list",
        "--unset",
        "--unset-all",
    )
    if found.has_any(reading):
        return False
    names = found.operands[1:]
    if len(names) < 2:
        return False
    if names[0] in ("set", "--add"):
        names = names[1:]
    if names[0].lower().startswith("alias."):
        return names[1].lstrip("'\"").startswith("!")
    if names[0].lower() == "core.hookspath" and _INSIDE.fullmatch(names[1]):
        # Hooks that are part of the repository, for this repository.
        return found.has_any(("--global", "--system"))
    if _SHOWING.fullmatch(names[0]) and _SHOWS.fullmatch(names[1]):
        return False
    return _LATER.fullmatch(names[0]) is not None


def _changes_source(found: Invocation) -> bool:
    return any(
        _SOURCES.fullmatch(word.partition("=")[0]) for word in found.operands[1:]
    )


def _changes_script(found: Invocation) -> bool:
    return any(map(_LIFECYCLE.fullmatch, found.operands))


def _is_startup_key(found: Invocation) -> bool:
    return any(_RUN_KEY.search(word) for word in found.argv)


def _weakens_system(found: Invocation) -> bool:
    return any(_WEAKENED.search(word) for word in found.argv)


def _joins_group(found: Invocation) -> bool:
    words = [part for word in found.argv[1:] for part in re.split(r"[,=]", word)]
    return not _STRONG.isdisjoint(words)


def _sets_user(found: Invocation) -> bool:
    modes = (
        found.operands[:1]
        if found.name == "chmod"
        else _get_values(found, "-m", "--mode")
    )
    modes += [
        word[2:]
        for word in found.argv
        if found.name == "install" and word.startswith("-m")
    ]
    return any(_MODE.fullmatch(mode) for mode in modes)


def _opens_system_file(found: Invocation) -> bool:
    """More rights on a file that rules over rights."""
    if not any(
        find_written_rule(path).startswith(("privilege", "persist-login"))
        for path in found.operands
    ):
        return False
    return found.name != "chmod" or any(map(_OPENING.fullmatch, found.operands[:1]))


def _weakens_kernel(found: Invocation) -> bool:
    return any(map(_KERNEL.fullmatch, found.argv[1:]))


def _is_remounting(found: Invocation) -> bool:
    return any("remount" in word for word in found.argv)


def _enters_host(found: Invocation) -> bool:
    if found.name == "chroot":
        return any(
            re.fullmatch(r"/(?:host|hostfs|rootfs|mnt/host|proc/1/root).*", w)
            for w in found.operands[:1]
        )
    return found.has_any(("-t", "--target", "-a", "--all")) or "1" in found.operands


def _turns_off(found: Invocation) -> bool:
    return "off" in (word.lower() for word in found.operands)


def _has_flag(found: Invocation) -> bool:
    return len(found.argv) > 1


def _escapes_container(found: Invocation) -> bool:
    if "--privileged" in found.argv or "--privileged=true" in found.argv:
        return True
    if any(
        value == "host"
        for value in _get_values(
            found, "--pid", "--userns", "--ipc", "--uts", "--cgroupns"
        )
    ):
        return True
    if any(map(_CAPABILITY.fullmatch, _get_values(found, "--cap-add"))):
        return True
    if any(
        "unconfined" in value or "disable" in value
        for value in _get_values(found, "--security-opt")
    ):
        return True
    mounts = _get_values(found, "-v", "--volume", "--mount", "--device")
    if any(map(_HOST_MOUNT.fullmatch, mounts)):
        return True
    return found.name in ("kubectl", "lxc", "incus") and any(
        map(_POD.search, found.argv)
    )


def _grants_policy(found: Invocation) -> bool:
    return any(map(_POLICY.fullmatch, found.operands[1:]))


def _grants_mongo(found: Invocation) -> bool:
    return any(map(_MONGO.search, found.argv))


def _opens_world(found: Invocation) -> bool:
    return any("0.0.0.0/0" in word or "::/0" in word for word in found.argv)


def _impersonates(found: Invocation) -> bool:
    """Asking what somebody may do is not doing it."""
    return found.operands[:1] != ["auth"]


def _is_grave_context(found: Invocation) -> bool:
    return any(map(_GRAVE_CONTEXT.fullmatch, found.operands[-1:]))


def _opens_root_shell(found: Invocation) -> bool:
    users = _get_values(found, "-u", "--user")
    return found.operands[-1] in _SHELLS and any(
        user.partition(":")[0] in ("0", "root") for user in users
    )


def _grants_host(found: Invocation) -> bool:
    """A chart's own switch for the rights of the machine."""
    return any(map(_HOST_SWITCH.search, found.argv[1:]))


QUESTIONS: dict[str, Question] = {
    "grants-host": _grants_host,
    "adds-hook": _adds_hook,
    "any-flag": _has_flag,
    "changes-script": _changes_script,
    "changes-source": _changes_source,
    "enters-host": _enters_host,
    "escapes-container": _escapes_container,
    "grants-mongo": _grants_mongo,
    "grants-policy": _grants_policy,
    "grants-rights": _grants_rights,
    "grave-context": _is_grave_context,
    "impersonates": _impersonates,
    "joins-group": _joins_group,
    "opens-system-file": _opens_system_file,
    "opens-world": _opens_world,
    "remounts": _is_remounting,
    "root-shell": _opens_root_shell,
    "runs-later": _runs_later,
    "sets-user": _sets_user,
    "startup-key": _is_startup_key,
    "turns-off": _turns_off,
    "weakens-kernel": _weakens_kernel,
    "weakens-system": _weakens_system,
}
