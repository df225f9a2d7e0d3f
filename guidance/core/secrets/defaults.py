"""Values that guard nothing: defaults of development, and keys from documentation."""

from __future__ import annotations

import binascii
import re

from guidance.core.secrets.vocabulary import (
    DEFAULT_VALUES,
    NOUNS,
    TRIAL_WORDS,
)
from guidance.core.secrets.words import is_made_of_words, split_words

# Printed in manuals, or the same on every machine that runs an emulator.
_DOCUMENTED = frozenset(
    {
        # Accounts of anvil and hardhat.
        "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        "59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
        "5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
        "7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
        "47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a",
        "8b3a350cf5c34c9194ca85829a2df0ec3153be0318b5e2d3348e872092edffba",
        "92db14e403b83dfe3df233f83dfa3a0d7096f21ca9b0d6d6b8d88b2b4ec1564e",
        "4bbbf85ce3377467afe5d46f804f221813b2bb87f24d81f60f1fcdbf7cbf4356",
        "dbda1821b80551c9d65939329250298aa3472ba22feea921c0cf5d620ea67b97",
        "2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
        # Azure's emulators of storage and Cosmos.
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHB"
        "eksoGMGw==",
        "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy"
        "67XIw/Jw==",
        # Stripe's and reCAPTCHA's own samples.
        "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "sk_test_" + "BQokikJOvBiI2HlWgH4olfQ2",
        "6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe",
        # The standards of OAuth.
        "2YotnFZFEjr1zCsicMWpAA",
        "tGzv3JOkF0XG5Qx2TlKWIA",
        "czZCaGRSa3F0MzpnWDFmQmF0M2JW",
        "h480djs93hd8",
    }
)
# Amazon's sample keys end so, and the tokens of jwt.io and Supabase's emulator begin so.
_SAMPLE = re.compile(
    r"(?:AKIA|ASIA)[A-Z0-9]{9,13}EXAMPLE|[A-Za-z0-9/+]{20,33}EXAMPLE(?:KEY)?"
    r"|eyJ[\w-]+\.(?:eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lI"
    r"|eyJpc3MiOiJzdXBhYmFzZS1kZW1vI).*"
)
_NAME_LIMIT = 80
_UNSIGNED = re.compile(rb'"alg"\s*:\s*"none"', re.IGNORECASE)
_LONGEST_HEADER = 200
# mypassword, devsecret1, YourStrong!Passw0rd: words that only say what it is.
_JOINED = re.compile(
    r"(?i)(?:(?:dev|tests?|testing|local|demo|dummy|fake|sample|my|your|strong|db|admin"
    r"|user|root|postgres|mysql|redis|app|some|secret|example)[-_ (!)@]*)*"
    r"(?:passw(?:or|0r|0)d|pass|secret|pw|key|token)[0-9]{0,4}!?"
)
_NUMBERED = re.compile(r"[0-9]{2}")
# A name and its password: neo4j/password, admin:admin.
_PAIR = re.compile(r"([A-Za-z][\w.-]*)[:/]([^:/]+)")
_ENCODED = re.compile(r"[A-Za-z0-9+/]{6,64}={0,2}")
_INSECURE = re.compile(r"(?i)(?:^|[^a-z])(?:insecure|unsafe|not-?secure)(?:[^a-z]|$)")


def is_documented(value: str) -> bool:
    """Everybody knows it, or can write it."""
    return (
        value.removeprefix("0x") in _DOCUMENTED
        or bool(_SAMPLE.fullmatch(value))
        or (value.startswith("eyJ") and _is_unsigned(value))
    )


def _is_unsigned(token: str) -> bool:
    """A JSON web token whose own header says so."""
    header = token[:_LONGEST_HEADER].partition(".")[0]
    try:
        plain = binascii.a2b_base64(header + "==")
    except binascii.Error:
        return False
    return _UNSIGNED.search(plain) is not None


def is_default(value: str) -> bool:
    """postgres, password123, dev-secret, test-key-for-ci: says itself what it is."""
    if _INSECURE.search(value) or _JOINED.fullmatch(value):
        return True
    pair = _PAIR.fullmatch(value)
    if pair is not None and (pair[1] == pair[2] or is_default(pair[2])):
        return True
    if len(value) % 4 == 0 and _ENCODED.fullmatch(value) and _decodes_to_default(value):
        return True
    words = split_words(value)
    if not words or not is_made_of_words(value.rstrip("!?.")):
        return False
    if not TRIAL_WORDS.isdisjoint(words):
        return True
    if len(words) > 1 and words[-1] not in NOUNS and _NUMBERED.search(value):
        # secretTiger77: made up by somebody, though of words that are defaults alone.
        return False
    known = all(word in DEFAULT_VALUES or word in NOUNS for word in words)
    return known and len(words) <= 3


def _decodes_to_default(value: str) -> bool:
    """As a manifest of Kubernetes writes it."""
    try:
        plain = binascii.a2b_base64(value).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return False
    return plain.isprintable() and is_default(plain.strip())


def repeats_its_name(value: str, name: str) -> bool:
    """GRAFANA_PASSWORD=grafana, or the user's own name again as in SHOP_PASSWORD=shop."""
    return value.isalpha() and value.lower() in split_words(name[-_NAME_LIMIT:])
