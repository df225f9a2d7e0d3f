"""Files that others run or trust later, told by their names: who writes one, stays."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.sensitive.secret_paths import HOME, normalize_path

_KINDS: tuple[tuple[str, str], ...] = (
    (
        "persist-login-key",
        r"(?:.*/)?(?:\.ssh/)?authorized_keys2?|/etc/ssh/(?:authorized_keys|sshd_config)(?:\.d/.*|/.*)?"
        r"|(?:.*/)?\.(?:rhosts|shosts)|/etc/hosts\.equiv",
    ),
    (
        "privilege-account-file",
        r"/etc/(?:passwd|group|g?shadow|sudoers(?:\.d(?:/.*)?)?|doas\.conf|security/.*|pam\.d(?:/.*)?"
        r"|ld\.so\.preload|polkit-1/.*|login\.defs)|(?:/var)?/run/docker\.sock"
        r"|/etc/(?:selinux|apparmor(?:\.d)?)(?:/.*)?|/proc/sys/.*|/sys/kernel/.*|/etc/sysctl\.(?:conf|d/.*)",
    ),
    (
        "persist-schedule",
        r"/etc/(?:cron[\w.]*(?:/.*)?|anacrontab|at\.allow)|/var/spool/(?:cron|at)(?:/.*)?",
    ),
    (
        "persist-service",
        r"(?:/etc|/usr/lib|/lib|/run)/systemd/(?:system|user)(?:/.*)?|.*/systemd/user(?:/.*)?"
        r"|/etc/(?:init\.d|rc\.local|rc\d\.d|init|inittab|runit|supervisor|xinetd\.d)(?:/.*)?"
        r"|(?:.*/)?library/(?:launchagents|launchdaemons|startupitems)(?:/.*)?"
        r"|.*/start menu/programs/startup(?:/.*)?|.*/\.config/autostart(?:/.*)?|.*/etc/xdg/autostart/.*",
    ),
    (
        "persist-startup-file",
        rf"{HOME}/\.(?:bash(?:rc|_profile|_login|_logout|_aliases|_completion)|profile|zsh(?:rc|env|_profile)|zprofile|zlogin|zlogout"
        r"|kshrc|cshrc|tcshrc|login|xinitrc|xprofile|xsession(?:rc)?|inputrc|pam_environment|vimrc|exrc|gvimrc|emacs|pythonrc|pythonstartup"
        r"|pryrc|irbrc|tmux\.conf|screenrc|gdbinit|config/fish/.*|config/nvim/.*|vim/.*|emacs\.d/.*|oh-my-zsh/.*|bashrc\.d/.*|config/environment\.d/.*)"
        r"|/etc/(?:profile(?:\.d/.*)?|bash(?:rc|\.bashrc)|zsh(?:/.*|rc|env)|environment|csh\.\w+|skel/.*)"
        r"|.*/(?:powershell|windowspowershell)/(?:microsoft\.\w+_)?profile\.ps1|\$profile(?:\.\w+)?",
    ),
    (
        "persist-hook",
        r"(?:.*/)?\.git/(?:hooks/.*|hooks)|(?:.*/)?\.githooks/.*|.*/git-templates?/hooks/.*"
        r"|/etc/apt/apt\.conf\.d/.*|/etc/(?:yum|dnf)/plugins/.*|/etc/ld\.so\.conf(?:\.d/.*)?|/etc/udev/rules\.d/.*"
        r"|/etc/(?:update-motd\.d|networkmanager/dispatcher\.d|ppp/ip-up\.d|dhcp/dhclient-exit-hooks\.d)/.*"
        rf"|{HOME}/\.ssh/(?:config|rc)|.*/(?:site-packages|dist-packages)/(?:[\w-]+\.pth|sitecustomize\.py|usercustomize\.py)"
        rf"|{HOME}/\.(?:gitconfig|config/git/config|npmrc|config/pip/pip\.conf|pip/pip\.conf|cargo/config(?:\.toml)?|gemrc|condarc|curlrc|wgetrc)"
        r"|/etc/(?:pip\.conf|npmrc|gitconfig|nsswitch\.conf|ld\.so\.conf)"
        # Whom the machine believes: names of other machines, and who signs for them.
        r"|/etc/(?:resolv|host)\.conf"
        r"|/usr/(?:local/)?share/(?:ca-certificates|pki/trust)(?:/.*)?|/etc/(?:ca-certificates|pki/ca-trust|ssl/certs)(?:/.*)?",
    ),
)
_HOSTS = re.compile(r"/etc/hosts|.*/drivers/etc/hosts")
_OTHER_MACHINE = re.compile(
    r"(?<![\d.])(?!127\.|0\.0\.0\.0)\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\s+[a-z]"
    # The guard, or the models that agents ask, sent anywhere else.
    r"|checkrail|api\.(?:anthropic|openai)\.com",
    re.IGNORECASE,
)
# Linear in the length of a path, however many folders it names.
_WRITTEN = tuple(
    (name, compile_byte_pattern(f"^(?:{pattern})$")) for name, pattern in _KINDS
)
# Most paths are none of them, which one look tells.
_ANY = compile_byte_pattern(
    "^(?:" + "|".join(f"(?:{pattern})" for _, pattern in _KINDS) + ")$"
)
_SAMPLE_HOOK = compile_byte_pattern(r"^(?:.*/)?\.git/hooks/.*\.sample$")


def find_written_rule(path: str) -> str:
    """The rule about writing this file, or nothing if it is an ordinary one."""
    data = encode_one_byte(normalize_path(path))
    for name, pattern in _WRITTEN if _ANY.search(data) else ():
        if pattern.search(data):
            return "" if _SAMPLE_HOOK.search(data) else name
    return ""


def redirects_names(path: str, text: str) -> bool:
    """Does the text send a name to another machine, or the guard's name anywhere?"""
    return (
        _HOSTS.fullmatch(normalize_path(path)) is not None
        and _OTHER_MACHINE.search(text) is not None
    )
