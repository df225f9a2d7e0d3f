"""Which files hold secrets, told by their names, and which names only look like it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.shell.tree import UNKNOWN

_SLASHES = re.compile(r"/(?:\.?/)+")
HOME = r"(?:~[\w.-]*|/root|/home/[^/]+|/users/[^/]+|[a-z]:/users/[^/]+|%userprofile%|\$env:userprofile)"

# In this order: the first that fits says which rule speaks.
_KINDS: tuple[tuple[str, str], ...] = (
    (
        "credential-process",
        r"/proc/[^/]+/(?:task/[^/]+/)?(?:environ|mem|auxv)|/proc/kcore|/dev/k?mem",
    ),
    (
        "credential-key",
        r"(?:.*/)?\.ssh(?:/[^/]*)?"
        r"|(?:.*/)?id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-]\w+)?"
        r"|/etc/(?:g?shadow-?|master\.passwd|krb5\.keytab|ssh/ssh_host_\w+_key)"
        r"|/etc/(?:ssl/private|pki/tls/private|wireguard|ipsec\.secrets|kubernetes/pki)(?:/.*)?"
        r"|/etc/letsencrypt/(?:live|archive)/.*privkey.*"
        r"|(?:.*/)?\.gnupg(?:/(?:private-keys-v1\.d|secring\.gpg|openpgp-revocs\.d).*)?"
        r"|(?:.*/)?[^/]*(?:private|privkey|secret)[^/]*\.(?:pem|der|asc)"
        r"|(?:.*/)?[^/]+\.(?:key|p12|pfx|jks|keystore|ppk|p8|kdbx?|keytab|ovpn)"
        r"|(?:.*/)?(?:\*|server|client|tls|ssl|host|node|admin|deploy|prod|github)[\w.*-]*\.pem"
        r"|.*/windows/(?:system32/config/(?:sam|security|system)|ntds/ntds\.dit)",
    ),
    (
        "credential-store",
        r"(?:.*/)?(?:login data|cookies(?:\.sqlite|\.binarycookies)?|logins\.json|key[34]\.db|web data)(?:-journal)?"
        r"|.*/library/keychains(?:/.*)?|.*\.keychain(?:-db)?"
        r"|.*/\.local/share/(?:keyrings|kwalletd)(?:/.*)?|(?:.*/)?\.password-store(?:/.*)?"
        r"|.*/(?:\.mozilla/firefox|\.config/(?:google-chrome|chromium|microsoft-edge|bravesoftware|vivaldi|opera)"
        r"|library/application support/(?:google/chrome|firefox|bravesoftware)"
        r"|appdata/(?:local/google/chrome/user data|roaming/mozilla/firefox))(?:/.*)?"
        r"|(?:.*/)?wallet\.dat|.*/\.(?:bitcoin|litecoin|monero|electrum|ethereum|exodus)(?:/.*)?"
        r"|(?:.*/)?utc--\d{4}-.*|.*/\.config/solana/[\w.-]+\.json|.*/(?:electrum|exodus|ledger live)/.*wallet.*"
        r"|.*/\.config/(?:1password|bitwarden[^/]*|op)/.*",
    ),
    (
        "credential-file",
        r"(?:.*/)?[._]netrc|"
        + HOME
        + r"/\.(?:npmrc|yarnrc\.yml|pypirc|boto|s3cfg|dockercfg|terraformrc"
        r"|vault-token|smbcredentials|hgrc|mylogin\.cnf|my\.cnf|fetchmailrc|msmtprc|muttrc|mutt/muttrc|authinfo(?:\.gpg)?"
        r"|databrickscfg|snowsql/config|snowflake/connections\.toml|oci/config|aliyun/config\.json|dbt/profiles\.yml"
        r"|kaggle/kaggle\.json|circleci/cli\.yml|travis/config\.yml|ngrok2/ngrok\.yml|config/(?:hub|ngrok/ngrok\.yml)"
        r"|rediscli_auth|odbc\.ini|passwd-s3fs|vnc/passwd|erlang\.cookie|nuget/nuget/nuget\.config|cassandra/credentials"
        # Whatever the tool is called, files of this name hold what opens its service.
        r"|(?:config/|local/share/)?[\w.-]+/(?:credentials?|auth|tokens?|secrets?|oauth[\w-]*|access[-_]tokens?|api[-_]?keys?)(?:\.(?:json|ya?ml|toml|ini|cfg|conf|db|txt))?)"
        r"|(?:.*/)?\.(?:pgpass|git-credentials|pypirc|vault-token|vault[-_]pass(?:word)?(?:\.txt)?|htpasswd|s3cfg)"
        r"|.*/\.docker/config\.json|.*/\.kube(?:/[^/]*)?|(?:.*/)?(?:[\w.-]+[.-])?kubeconfig(?:\.ya?ml)?"
        r"|/etc/(?:kubernetes/\w+\.conf|rancher/k3s/k3s\.yaml|ppp/(?:chap|pap)-secrets|networkmanager/system-connections/.*)"
        r"|(?:.*/)?\.aws(?:/(?:credentials|sso/cache|cli/cache)(?:/.*)?)?"
        r"|(?:.*/)?\.azure(?:/(?:accesstokens|msal_token_cache|service_principal)[^/]*)?"
        r"|.*/gcloud/(?:credentials\.db|access_tokens\.db|application_default_credentials\.json|legacy_credentials.*)"
        r"|.*/\.config/(?:gh|hub|glab-cli|rclone|doctl|fly|heroku|stripe|netlify|vercel|sops/age|configstore|filezilla|hcloud"
        r"|github-copilot|openai|anthropic|huggingface|wandb)/[^/]+"
        r"|(?:.*/)?\.(?:cargo|gem)/credentials(?:\.toml)?|.*/\.composer/auth\.json|.*/\.terraform\.d/credentials[\w.]*"
        r"|.*/\.(?:claude/\.credentials|codex/auth|gemini/oauth_creds|claude)\.json|.*/\.(?:huggingface|cache/huggingface)/token"
        r"|.*/\.(?:m2/settings(?:-security)?\.xml|gradle/gradle\.properties|fly/config\.yml|bundle/config|subversion/auth/.*)"
        r"|(?:/var)?/run/secrets(?:/.*)?|(?:.*/)?wp-config\.php|(?:.*/)?config/master\.key"
        r"|(?:.*/)?[\w.*-]*\.tfstate(?:\.backup)?"
        r"|(?:.*/)?(?:[\w-]+[-_.])?(?:secrets?|credentials?|passwords?|passwd|api[-_]?keys?|client[-_]secrets?[\w-]*"
        r"|service[-_]?account[\w-]*|auth[-_]?tokens?|tokens?)\.(?:json|ya?ml|txt|toml|ini|csv|cfg|conf|properties|db|zip)"
        r"|(?:.*/)?secrets?/[\w.*-]+\.(?:json|ya?ml|txt|toml|env|conf)",
    ),
    (
        "credential-history",
        r"(?:.*/)?\.(?:bash|zsh|sh|python|psql|mysql|sqlite|rediscli|node_repl|irb|mongo)_?history"
        r"|.*/fish/fish_history|(?:.*/)?consolehost_history\.txt|.*/\.(?:claude|codex)/history\.jsonl",
    ),
    (
        "credential-env-file",
        r"(?:.*/)?(?:\.env(?:[.*?][\w.*-]*)?|\.envrc|\.flaskenv|\.dev\.vars|[\w-]+\.env)",
    ),
)
# Linear in the length of a path, however many folders it names.
_SECRETS = tuple(
    (name, compile_byte_pattern(f"^(?:{pattern})$")) for name, pattern in _KINDS
)
# Most paths are none of them, which one look tells.
_ANY = compile_byte_pattern(
    "^(?:" + "|".join(f"(?:{pattern})" for _, pattern in _KINDS) + ")$"
)
# They stand beside secrets and are none.
_BESIDE = compile_byte_pattern(
    r"^(?:(?:.*/)?\.ssh/(?:config|known_hosts[^/]*|authorized_keys[^/]*|environment|[^/]*\.pub)"
    r"|(?:.*/)?id_[\w-]+[._-]pub|.*/\.kube/cache[^/]*)$"
)
# Templates, fixtures, documentation: made to be read.
_MADE_UP = re.compile(
    r"(?:.*/)?(?:tests?|__tests__|specs?|e2e|fixtures?|testdata|examples?|samples?|docs?"
    r"|node_modules|vendor|site-packages|mocks?|stubs?)/.*"
    r"|.*[._-](?:example|sample|template|dist|tmpl|tpl|pub|md|rst|enc|age|j2|defaults?|schema"
    r"|test|testing|ci|development|dev)(?:\.\w+)?"
    r"|(?:.*/)?(?:example|sample|fake|dummy|mock|test)[._-][^/]*"
)
# They are real wherever they stand.
_ALWAYS = re.compile(rf"{HOME}/\..*|/etc/.*|/proc/.*|/dev/.*|(?:/var)?/run/.*")
# A pattern that would open one of these opens it.
_WELL_KNOWN = (
    "/etc/shadow",
    "/etc/gshadow",
    "~/.ssh/id_rsa",
    "~/.ssh/id_ed25519",
    "~/.aws/credentials",
    "~/.netrc",
    ".env",
)
_LITERAL = re.compile(r"[a-z.]{3}")


def normalize_path(path: str) -> str:
    """In small letters, with slashes, without what changes nothing."""
    path = path.replace("\\", "/").lower().removeprefix("file://")
    if "//" in path or "/./" in path:
        path = _SLASHES.sub("/", path)
    path = path.removeprefix("./")
    return path.rstrip("/") if len(path) > 1 else path


def find_secret_rule(path: str) -> str:
    """The rule about reading this file, or nothing if it is an ordinary one."""
    path = normalize_path(path)
    data = encode_one_byte(path)
    for name, pattern in _SECRETS if _ANY.search(data) else ():
        if pattern.search(data) is None:
            continue
        if _BESIDE.search(data) or (
            _MADE_UP.fullmatch(path) and not _ALWAYS.fullmatch(path)
        ):
            return ""
        return name
    if any(sign in path for sign in "*?[") and _LITERAL.search(path):
        plain = path.replace(UNKNOWN, "*")
        for known in _WELL_KNOWN:
            if plain.count("/") == known.count("/") and fnmatchcase(known, plain):
                return find_secret_rule(known)
    return ""
