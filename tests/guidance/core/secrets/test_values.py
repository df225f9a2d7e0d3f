"""Decoded values: keys, pairs of name and value, flags in lists, numbers, paths."""

from __future__ import annotations

import pytest

from guidance.core.secrets import SecretFinding, find_secrets
from guidance.core.secrets.eraser import NAME_LIMIT
from guidance.core.secrets.walk import DEPTH_LIMIT, TooDeep
from tests.guidance.core.secrets.samples import b64, body, uuid
from tests.support.rows import each_row

PASSWORD = "hun" + "ter2"
TOKEN = "gh" + "p_" + body(36)


def paths(value: object) -> list[str]:
    return [finding.path for finding in find_secrets(value)]


def test_a_finding_says_where_and_how_long_and_nothing_else() -> None:
    assert find_secrets({"a": ["x", f"go {TOKEN}"]}) == (
        SecretFinding(
            kind="github-token",
            path="/a/1",
            span=(3, 43),
            redacted="«github-token 40 chars»",
            length=40,
        ),
    )


def test_the_text_itself_has_the_empty_path() -> None:
    assert paths(TOKEN) == [""]


@each_row(
    "key",
    ["password", "db_password", "dbPassword", "DB-PASSWORD", "passwd", "client_secret"],
)
def test_a_key_that_promises_a_secret(key: str) -> None:
    assert paths({"db": {key: PASSWORD}}) == [f"/db/{key}"]


@each_row("key", ["token", "api_key", "apiKey", "X-Api-Key", "auth"])
def test_a_weaker_key_needs_a_value_that_looks_random(key: str) -> None:
    assert paths({key: body(24)}) == [f"/{key}"]
    assert paths({key: "settings"}) == []


def test_a_uuid_counts_behind_a_name_that_can_only_mean_a_secret() -> None:
    for key in ("api_key", "apiKey", "X-Api-Key", "access_token", "AUTH_TOKEN"):
        assert paths({key: uuid()}) == [f"/{key}"]
    for key in ("token", "auth", "client_token", "session_key", "request_token"):
        assert paths({key: uuid()}) == []


def test_a_default_that_guards_nothing_is_let_alone_unless_it_is_far_away() -> None:
    assert paths({"user": "shop", "password": "shop", "host": "db"}) == []
    assert paths({"user": "shop", "password": "shop", "host": "db.shop-prod.io"})
    assert paths({"user": "shop", "password": PASSWORD, "host": "db"})
    assert paths({"POSTGRES_PASSWORD": "postgres"}) == []
    assert paths({"email": "kim@example.com", "password": "sunflower"}) == []
    assert paths({"email": "kim@shop-prod.io", "password": "sunflower"})
    assert paths({"pwd": "workspace"}) == []
    assert paths({"pwd": PASSWORD}) == ["/pwd"]


def test_words_as_passwords_are_let_alone_in_files_of_tests() -> None:
    content = "user.login(password='opensesame')\n"
    for path in ("tests/test_login.py", "spec/a.rb", "src/a.spec.ts", "a/conftest.py"):
        assert paths({"file_path": path, "content": content}) == []
    labels = '{"secret": "Geheimnis", "password": "Kennwort"}'
    assert paths({"file_path": "locales/de.json", "content": labels}) == []
    for path in ("src/login.py", "latest/contest.py", "attestation.py"):
        assert paths({"file_path": path, "content": content}) == ["/content"]
    live = f"user.login(password='{body(14)}')\n"
    assert paths({"file_path": "tests/test_a.py", "content": live}) == ["/content"]


@each_row(
    "key",
    [
        "max_tokens",
        "password_hash",
        "token_type",
        "public_key",
        "pass",
        "key",
        "author",
    ],
)
def test_keys_that_promise_nothing(key: str) -> None:
    assert paths({key: "Zx81" + "spectrum"}) == ["/pass"] * (key == "pass")


def test_a_name_beside_its_value() -> None:
    assert paths([{"name": "DB_PASSWORD", "value": PASSWORD}]) == ["/0/value"]
    assert paths({"key": "API_TOKEN", "Value": body(24)}) == ["/Value"]
    assert paths({"name": "city", "value": PASSWORD}) == []


def test_a_flag_before_its_value() -> None:
    assert paths(["tool", "--password", PASSWORD, "-v"]) == ["/2"]
    assert paths(["tool", "--verbose", PASSWORD]) == []


@each_row(
    ("words", "path"),
    [
        (["mysql", "-p" + "Zx81k9", "shop"], "/1"),
        (["sudo", "/usr/bin/mysqldump", "-p" + "Zx81k9"], "/2"),
        (["curl", "-u", "admin:" + "Zx81k9", "https://host"], "/2"),
        (["curl", "--user=admin:" + "Zx 81 k9", "https://host"], "/1"),
        (["docker", "login", "-u", "bob", "-p", "Zx81k9"], "/5"),
        (["sshpass", "-p", "Zx81k9", "ssh", "host"], "/2"),
    ],
)
def test_a_command_that_is_given_word_by_word(words: list[str], path: str) -> None:
    assert paths(words) == [path]
    assert paths({"argv": [words]}) == [f"/argv/0{path}"]


@each_row(
    "words",
    [
        ["mysql", "-p", "shop"],
        ["mkdir", "-p" + "Zx81k9"],
        ["curl", "-u", "admin:$PASSWORD"],
        ["docker", "run", "-p", "8080:80"],
        ["curl"],
    ],
)
def test_words_that_hold_no_password(words: list[str]) -> None:
    assert paths(words) == []


def test_a_pair_of_name_and_value() -> None:
    (bearer,) = find_secrets({"headers": [["Authorization", "Bearer " + body(24)]]})
    assert (bearer.path, bearer.span) == ("/headers/0/1", (7, 31))
    assert paths([["X-Api-Key", body(24)]]) == ["/0/1"]
    assert paths([["Accept", body(24)], ["password", "username"]]) == []
    assert paths({"fields": ["token", "secret"]}) == []


def test_a_name_in_a_path_is_cut_where_it_is_too_long() -> None:
    (finding,) = find_secrets({"a" * 5_000: {"password": PASSWORD}})
    assert finding.path == f"/{'a' * NAME_LIMIT}/password"
    assert paths({"x" * 5_000 + "_password": PASSWORD}) == [f"/{'x' * NAME_LIMIT}"]


def test_a_list_is_called_what_its_key_says() -> None:
    assert paths({"password": [PASSWORD]}) == ["/password/0"]


def test_numbers_under_a_key_that_promises_a_password() -> None:
    assert paths({"password": 123456}) == ["/password"]
    assert paths({"password": 12, "passwords": 123456, "tokens": 123456}) == []
    assert paths({"password": True, "secret": None}) == []


def test_authorization_keeps_its_scheme() -> None:
    (bearer,) = find_secrets({"Authorization": "Bearer " + body(24)})
    assert bearer.span == (7, 31)
    (basic,) = find_secrets({"Authorization": "Basic " + b64(f"bob:{PASSWORD}")})
    assert basic.span[0] == 6
    assert paths({"Authorization": "Bearer $TOKEN"}) == []


def test_a_secret_as_a_key_is_hidden_in_the_path_too() -> None:
    (finding,) = find_secrets({"a": {TOKEN: 1}})
    assert finding.in_key
    assert finding.path == "/a/«github-token 40 chars»"
    (below,) = find_secrets({TOKEN: {"password": PASSWORD}})[1:]
    assert TOKEN not in below.path


def test_paths_are_escaped_as_json_pointers_are() -> None:
    assert paths({"a/b": {"c~d": TOKEN}}) == ["/a~1b/c~0d"]


def test_many_texts_are_read_as_well_as_one() -> None:
    texts = [f'password = "{PASSWORD}', f"say {TOKEN}", "fine", f"pwd={PASSWORD}", ""]
    assert paths(texts) == ["/0", "/1", "/3"]


def test_other_things_than_json_are_passed_over() -> None:
    assert paths([None, True, 1.5, b"password=" + PASSWORD.encode(), object()]) == []


def test_a_value_nested_without_end_is_refused() -> None:
    value: object = TOKEN
    for _ in range(DEPTH_LIMIT + 1):
        value = [value]
    with pytest.raises(TooDeep):
        find_secrets(value)


@pytest.mark.parametrize(
    "value",
    [
        {"password": {"value": "hun" + "ter2"}},
        {"key": "DB_PASSWORD", "val": "hun" + "ter2"},
    ],
)
def test_a_value_is_called_by_the_name_around_it(value: object) -> None:
    assert [found.kind for found in find_secrets(value)] == ["password"]
