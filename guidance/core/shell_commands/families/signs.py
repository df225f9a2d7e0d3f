"""Quickly: can a text name anything sensitive at all? Most commands cannot."""

from __future__ import annotations

from guidance.core.regex import compile_byte_pattern

# Wider than what is judged in the end: it only says where to look more closely.
SIGNS = compile_byte_pattern(
    # Private folders and files of a person or of the machine.
    r"\.(?:ssh|gnupg|aws|azure|kube|docker|dockercfg|netrc|npmrc|yarnrc|pypirc|pgpass"
    r"|boto|s3cfg|terraform|cargo|gem|composer|claude|codex|gemini|cursor|huggingface"
    r"|m2|gradle|fly|bundle|subversion|mozilla|bitcoin|ethereum|electrum|exodus|config"
    r"|vault|htpasswd|git-credentials|password-store|local|env|flaskenv|dev\.vars)"
    # Any hidden file of a person.
    r"|(?:~[\w.-]*|(?:home|users)/[^/\s]{1,40}|home|root|userprofile|homedir\(\)|home\(\))\}?[\"']?[ +,]{0,4}[\"']?/?\."
    r"|_netrc|id_(?:rsa|dsa|ecdsa|ed25519)|shadow|passwd|history|/proc/|/dev/k?mem|kcore"
    r"|\.(?:pem|key|p12|pfx|jks|keystore|ppk|p8|kdbx?|keytab|ovpn|asc|tfstate)"
    r"|kubeconfig|private|privkey|wireguard|letsencrypt|/etc/|/run/|keychain|keyring"
    r"|cookies|logins?\.json|login data|web data|key[34]\.db|wallet|utc--|chrom|firefox"
    r"|wp-config|secret|credential|password|token|api[-_?.\\\[\]]{0,8}key|service[-_]?account|akia"
    # What others run or trust later.
    r"|[a-z]shrc|vimrc|exrc|tmux\.conf|profile|zshenv|zlogin|nvim|emacs|cron|systemd|launch|autostart|startup|\.git/|hooks|sudoers"
    r"|authorized_keys|daemonset|privileged|host(?:path|pid|ipc)|sys_admin|certificates|ca-trust|resolv|site-packages|/proc/sys|docker\.sock"
    # Variables that hold secrets, and the environment as a whole.
    r"|\$\{?[a-z0-9_]*(?:key|pass|pw|cred|dsn|pat|url|connection_string)"
    r"|environ|getenv|printenv|env:|process\.env|_env\b|\benv\b|169\.254|metadata"
    # Names put together from variables or patterns, or letters given by their numbers.
    r"|\$'|[a-z0-9]\$\{?[a-z]|\$\{[a-z0-9_]+\}[a-z0-9.]|[?\[*][a-z]*/|/[a-z.]*[?\[]",
    ignore_case=True,
)
# They only hide a word from us, not from a shell.
_HIDING = b"\"'\\"


def hides_sign(data: bytes) -> bool:
    """Does one stand there as a shell reads it, without quotes and backslashes?"""
    bare = strip_hiding(data)
    return len(bare) < len(data) and SIGNS.search(bare) is not None


def strip_hiding(data: bytes) -> bytes:
    return data.translate(None, _HIDING)
