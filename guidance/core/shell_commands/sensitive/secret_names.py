"""Names that promise a secret: of variables, settings and fields."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte

_WORDS = (
    r"secrets?|tokens?|passwords?|passwd|passphrase|pwd|credentials?|creds?|apikeys?"
    r"|api_?keys?|access_?keys?|private_?keys?|secret_?keys?|auth_?keys?|signing_?keys?"
    r"|encryption_?keys?|master_?keys?|service_?keys?|deploy_?keys?|pat|dsn|extraheader"
    r"|connection_?strings?|database_url|redis_url|authtoken"
)
_NAME = re.compile(
    rf"(?:.*[_.:/-])?_?(?:{_WORDS})(?:_?(?:value|prod|dev|base64|b64))?", re.I
)
# A variable of the environment: capitals, for `$key` in a loop is nothing of the kind.
_VARIABLE = re.compile(
    r"(?:^|_)(?:SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PASS|PW|CREDENTIALS?|APIKEY|KEY"
    r"|PAT|DSN|DATABASE_URL|CONNECTION_STRING)(?:_(?:PROD|DEV|STAGING|LIVE|[0-9]+))?\Z"
    r"|(?:^|_)SECRET_"
)
_HARMLESS = re.compile(
    r"(?:.*_)?(?:PUBLIC|SORT|PRIMARY|FOREIGN|CACHE|PARTITION|HOST|KEYBOARD|OBJECT|GPG|S3)_KEY(?:_.*)?|.*_KEY_ID"
    r"|(?:OLD)?PWD|.*_TOKEN_(?:TTL|EXPIRY|COUNT|LIMIT|URL)|KEY_(?:NAME|ID|LENGTH|SIZE|PATH)"
)
# What somebody who looks for secrets puts into a search.
_HUNTED = compile_byte_pattern(
    r"akia|begin [a-z ]*private|private.key|secret|passw|\bpass\b|token|api.?key|credential|\bkey\b|\bapi\b|_key|aws|ghp_|glpat|sk_live"
    r"|xox[bp]|cr[ktp]_|\bauth\b|\bpwd?\b|mnemonic|seed phrase",
    ignore_case=True,
)


# Parts of a search pattern that only allow other spellings.
_SPELLINGS = re.compile(r"\[[^\]]{0,20}\][?*+]?|[\\?()*+]")


def is_secret_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


def is_secret_variable(name: str) -> bool:
    return (
        name.isupper()
        and _VARIABLE.search(name) is not None
        and _HARMLESS.fullmatch(name) is None
    )


def is_hunting(pattern: str) -> bool:
    """Would this search pattern find secrets, also as `api[_-]?key` or `pass(word)?`?"""
    return (
        _HUNTED.search(encode_one_byte(pattern)) is not None
        or _HUNTED.search(encode_one_byte(_SPELLINGS.sub("", pattern))) is not None
    )
