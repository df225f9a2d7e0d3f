"""Placeholders, references and public values: what looks like a secret and is none."""

from __future__ import annotations

import re

from guidance.core.regex import combine_patterns, compile_byte_pattern, encode_one_byte
from guidance.core.secrets.words import is_sequence

# Each as a word of its own: "EXAMPLEKEY" at the end of a real key is not one.
_FILLER_WORDS = compile_byte_pattern(
    r"(?:^|[^a-z0-9])(?:yours?|examples?|sample|dummy|placeholder|fake|changeme|changeit"
    r"|change[-_ ]?(?:me|this|it)|replace[-_ ]?(?:me|this|with)|redacted|masked|censored"
    r"|removed|todo|fixme|tbd|foobar|not[-_ ]?a[-_ ]?real"
    r"|my[-_ ](?:api|token|secret|key|password)"
    r"|(?:put|goes|key|token|secret|password)[-_ ]here|lorem|ipsum)(?:[^a-z0-9]|$)",
    ignore_case=True,
)
# A sign that is not ASCII, such as a bullet, is a question mark there.
_MASK = compile_byte_pattern(r"\*{2,}|x{4,}|X{4,}|\.{3,}|_{4,}|-{5,}|\?{3,}|#{4,}")
_ANY_FILLER = combine_patterns(_FILLER_WORDS, _MASK)
# What may stay visible beside a mask and still say nothing.
_BESIDE_MASK = 8
_LONGEST_FILLER = 256
# The public start of a token, as many vendors write it.
_KNOWN_START = re.compile(r"[a-z]{2,10}[_-](?:(?:test|live|prod|dev|proj)[_-])?")
_LEAST_COUNTED = 8
# One word that says what it is, again and again.
_SAYS_SO = re.compile(
    r"(?:fake|test|dummy|example|sample|none|invalid)+", re.IGNORECASE
)
_PARTS = re.compile(r"[-_]+")
_SAME = re.compile(r"(.)\1{5,}")

# The value is fetched or filled in from elsewhere.
_REFERENCE = re.compile(
    r"""(?x)
    [<\[{(].*[>\]})]$                           # <your-key>, {{ secret }}, [REDACTED]
    | \$[A-Za-z_{(]                             # $VAR, ${VAR}, $(command)
    | %[A-Za-z_]+%$ | @[@{]?[\w./~-]+[@}]*$ | __\w+__$ | %[sdrvq](?:\\[nrt])*$ | :\w+$ | \|$
    | [`(]                                      # a command's output, an expression
    | !(?:vault|Ref|Sub|GetAtt|secret|env|ImportValue)\b | ENC\[
    | (?:process|import\.meta|Deno|Bun)\.env\b
    | (?:os\.)?(?:environ|getenv)\b | ENV\[ | \$env: | System\.getenv\b
    | (?:std::)?env(?:::var|!|\(|\[|\.|:)       # env("X"), env.X, env:X
    | (?:vault|op|secret|secrets|ssm|gcp-sm|gcpsecretmanager|awssm|keyvault|keyring
        |doppler|infisical|bws|sops|file|ref\+\w+|sm|akv|kv|aws-sm|1password)(?::|://)
    | arn:aws:(?:secretsmanager|ssm): | projects/[^/]+/secrets/
    | (?:secrets|vars|var|local|data|module|config|settings|self|this|args|opts
        |options|params|request|req|ctx|env|props|inputs|credentials|app|cls)\.\w
    """
)
_FILLED_IN = re.compile(r"[$#][{(]|\{\{|<%|%\(|\$\[\[")
_PATH = re.compile(
    r"^(?:~|\.{1,2})?(?:/[\w.@+-]{1,40})+/?$|^[A-Za-z]:\\|^\\\\|^\./|^~/"
)
_HASH = re.compile(
    r"^\$(?:2[abxy]|5|6|1|y|7|gy|argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*|apr1)\$"
    r"|^(?:pbkdf2|argon2|bcrypt|scrypt|md5|sha1|sha256|sha512)[\w]*\$"
    r"|^\{(?:S?SHA|SSHA\d*|SHA\d*|MD5|CRYPT|BCRYPT)[\w-]*\}"
    r"|^sha(?:1|224|256|384|512)[-:=]|^(?:md5|blake[23]\w*)[:-]"
)
_PUBLIC = re.compile(
    r"^(?:ssh-(?:rsa|dss|ed25519)|ecdsa-sha2-\S+|sk-ssh-\S+) AAAA"
    r"|^-----BEGIN (?:[A-Z0-9 ]*PUBLIC KEY|CERTIFICATE)|^age1[0-9a-z]{20,}$"
    r"|^pk_(?:live|test)_|^(?:pk\.eyJ|phc_|sb_publishable_)"
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)+$")
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://")


def is_filler(text: str) -> bool:
    """Nobody's secret: one character repeated, a mask, a word such as changeme."""
    letters = set(text) - set("-_. ")
    if len(letters) <= 2:
        return True
    if len(text) < _LONGEST_FILLER and _is_made_up(text):
        return True
    # T00000000/B00000000/XXXXXXXX
    if len(text) < _LONGEST_FILLER and len(_SAME.findall(text)) > 1:
        return len(_SAME.sub("", text)) * 6 <= len(text)
    known = _KNOWN_START.match(text)
    if known is not None and _is_counted(text[known.end() :]):
        return True
    data = encode_one_byte(text)
    if _ANY_FILLER.search(data) is None:
        return False
    mask = _MASK.search(data)
    if mask is not None and len(text) - (mask.end - mask.start) <= _BESIDE_MASK:
        return True
    return _FILLER_WORDS.search(data) is not None


def _is_counted(rest: str) -> bool:
    """sk_test_0000000000, sk_test_1234567890: a form, and nothing in it."""
    return len(rest) >= _LEAST_COUNTED and (len(set(rest)) <= 2 or is_sequence(rest))


def _is_made_up(text: str) -> bool:
    """0000000000-FAKEFAKE: one digit again and again, and words that say so."""
    return _SAME.search(text) is not None and all(
        len(set(part)) <= 1 or _SAYS_SO.fullmatch(part) for part in _PARTS.split(text)
    )


def is_reference(text: str) -> bool:
    """Not the secret itself, but where it comes from."""
    return (
        _REFERENCE.match(text) is not None
        or _FILLED_IN.search(text) is not None
        or _PATH.match(text) is not None
    )


def is_public(text: str) -> bool:
    """A hash, an integrity string, a public key, a version or an address."""
    return (
        _HASH.match(text) is not None
        or _PUBLIC.match(text) is not None
        or _VERSION.match(text) is not None
        or _URL.match(text) is not None
    )
