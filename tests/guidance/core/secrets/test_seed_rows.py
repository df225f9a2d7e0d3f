"""Rows EG-18 to EG-25 and EG-37 to EG-40 of the seed's scenarios, and M74 to M76."""

from __future__ import annotations

import base64

import pytest

from guidance.core.secrets import find_secrets, redact, redact_text
from tests.guidance.core.secrets.samples import HEX, body, jwt, numbered, pem
from tests.support.rows import each_row

KEY = b"a key for tests"
PASSWORD = "hun" + "ter2"


MISSED = [
    f"password={PASSWORD}",
    f'{{"password": "{PASSWORD}"}}',
    f"password: {PASSWORD}",
    jwt(),
    f"postgres://bob:{PASSWORD}@db/x",
    "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "-----BEGIN ENCRYPTED " + "PRIVATE KEY-----",
    "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
    "s" + "k-ant-api03-" + body(40),
    "git" + "hub_pat_" + body(22) + "_" + body(59),
    "s" + "k-proj-" + body(40),
    "sk" + "_live_" + body(24),
    "gh" + "o_" + body(36),
    "gh" + "s_" + body(36),
    "gl" + "pat-" + body(20),
    "AS" + "IA" + "ABCDEFGHIJKLMNOP",
    f"export API_KEY={body(24)}",
    f"AWS_SECRET_ACCESS_KEY={body(40)}",
    f'secret_key = "{PASSWORD}"',
    f"db_pass={PASSWORD}",
    f"curl -u bob:{PASSWORD} https://h",
    f"Authorization: Bearer {body(24)}",
    "xo" + "xb-" + body(12, "0123456789") + "-" + body(24),
    "AI" + "za" + body(35),
    "h" + "f_" + body(34),
    "py" + "pi-" + body(60),
    "S" + "G." + body(22) + "." + body(43),
]


def kinds(value: object) -> list[str]:
    return [finding.kind for finding in find_secrets(value)]


def test_eg_18_a_quoted_sk_key() -> None:
    assert kinds('const key = "s' + 'k-abc123def456ghi789jkl012mno345";') == [
        "openai-key"
    ]


def test_eg_19_a_quoted_password() -> None:
    assert kinds('password = "' + "super-secret-" + 'password-123"') == ["password"]


def test_eg_20_the_first_line_of_an_rsa_key() -> None:
    assert kinds("-----BEGIN RSA " + "PRIVATE KEY-----") == ["private-key"]


def test_eg_21_a_github_token() -> None:
    assert kinds("gh" + "p_abcdefghijklmnopqrstuvwxyz0123456789") == ["github-token"]


def test_eg_22_an_aws_id() -> None:
    assert kinds("AKIA" + "IOSFODNN7" + "SAMPLED") == ["aws-access-key"]


def test_eg_23_plain_text() -> None:
    assert kinds("This function adds two numbers and returns the sum.") == []


def test_eg_24_a_reference_to_the_environment() -> None:
    assert kinds("const key = process.env.API_KEY;") == []


def test_eg_25_only_hidden_forms_are_reported() -> None:
    token = "gh" + "p_" + body(36)
    for finding in find_secrets({"content": f"x {token} y"}, fingerprint_key=KEY):
        assert token[4:9] not in repr(finding)


@each_row("text", MISSED, ids=numbered(MISSED))
def test_eg_37_what_the_reference_missed(text: str) -> None:
    assert kinds(text)


@each_row(
    "arguments",
    [
        {"content": f'password = "{PASSWORD}"'},
        {"password": PASSWORD},
        {"api_key": body(32)},
        {"a": [{"b": {"content": f'const token = "{body(32)}"'}}]},
    ],
    ids=["text", "key", "weaker-key", "deep"],
)
def test_eg_38_double_quoted_secrets_inside_arguments(
    arguments: dict[str, object],
) -> None:
    assert kinds(arguments)


@pytest.mark.parametrize("start", ["task-", "disk-", "risk-"])
def test_eg_39_words_that_end_like_the_start_of_a_key(start: str) -> None:
    assert kinds(start + "abcdefghijklmnopqrstuvwxyz") == []


@pytest.mark.parametrize("form", ['password="§"', "password: §", "db_pass = '§'"])
def test_eg_40_nothing_of_four_characters_is_shown_anywhere(form: str) -> None:
    secret = "q7" + "Zx"
    done = redact(
        {"command": form.replace("§", secret), "again": f"({secret})"},
        fingerprint_key=KEY,
    )
    assert done.findings
    assert secret not in repr(done)
    for length in (2, 3):
        for at in range(len(secret) - length + 1):
            assert secret[at : at + length] not in repr(done.value)


@each_row(
    "secret",
    [
        "AK" + "IA" + "ABCDEFGHIJ234567",
        "gh" + "p_" + body(36),
        pem("RSA "),
        jwt(),
    ],
    ids=["aws", "github", "pem", "jwt"],
)
def test_m74_no_piece_of_a_secret_is_left(secret: str) -> None:
    piece = secret[-60:-40] if len(secret) > 100 else secret[8:20]
    value = {"content": f"a\n{secret}\nb", "again": [secret, {"note": piece}]}
    done = redact(value, fingerprint_key=KEY)
    assert done.findings
    assert secret not in repr(done.value)
    assert piece not in repr(done.value)


def test_m74_passwords_in_addresses_and_env_files() -> None:
    address = redact_text(f"psql postgres://bob:{PASSWORD}@db/x", fingerprint_key=KEY)
    assert PASSWORD not in address.text
    assert address.text.startswith("psql postgres://bob:«url-password 7 chars #")
    env = redact_text(f"A=1\nDB_PASSWORD={PASSWORD}\nB=2\n", fingerprint_key=KEY)
    assert PASSWORD not in env.text
    assert env.text.startswith("A=1\nDB_PASSWORD=«password")
    assert env.text.endswith("»\nB=2\n")


def test_m75_cut_by_invisible_characters_by_line_ends_and_in_base64() -> None:
    token = "gh" + "p_" + body(36)
    for cut in (
        "\u200b",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u202e",
        "\x00",
        "\x08",
        "\x85",
    ):
        assert kinds(token[:14] + cut + token[14:]) == ["github-token"], repr(cut)
    for cut in ("\n", "\r\n", "\\\n", "\n    ", '" + "', "' '", "\\n"):
        assert kinds(token[:14] + cut + token[14:]) == ["github-token"], repr(cut)
    for text in (token, f"password={PASSWORD}andmore", pem("EC ")):
        encoded = base64.b64encode(text.encode()).decode()
        assert kinds(f"echo {encoded} | base64 -d") == ["encoded-secret"]


def test_m75_known_misses_are_missed() -> None:
    """Whoever makes one of these found takes it off the list in the package."""
    token = "gh" + "p_" + body(36)
    assert kinds(token.encode().hex()) == []
    assert kinds(token[:2] + "\n" + token[2:]) == []
    assert kinds(token[::-1]) == []
    assert kinds(f"the password is {PASSWORD}") == []
    assert kinds("password: correct horse battery staple") == []


@each_row(
    "text",
    [
        "§",
        "ValueError: bad token §",
        "key-§",
        "agent/1.0 (§)",
        "Bash §",
    ],
)
def test_m76_the_same_redactor_for_names_errors_and_headers(text: str) -> None:
    token = "gh" + "p_" + body(36, HEX)
    done = redact_text(text.replace("§", token), fingerprint_key=KEY)
    if text == "key-§":
        # Joined to another word, it is not seen as a token.
        return
    assert token not in done.text
    assert done.findings[0].kind == "github-token"
