"""The redactor: total, the same every time, and telling two secrets apart."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from guidance.core.secrets import UNREAD, find_secrets, redact, redact_text
from guidance.core.secrets.hits import HIT_LIMIT
from guidance.core.secrets.labels import WINDOW, list_windows
from guidance.core.secrets.words import is_ordinary_word
from tests.guidance.core.secrets.corpus import FOUND, LET_ALONE
from tests.guidance.core.secrets.samples import SAFE, WORD, body, numbered
from tests.support.examples import examples
from tests.support.rows import each_row

steadily = examples(300)

KEY = b"a key for tests"
TOKEN = "gh" + "p_" + body(36)
PASSWORD = "hun" + "ter2"


def redacted(value: object) -> object:
    return redact(value, fingerprint_key=KEY).value


def test_the_label_says_kind_length_and_fingerprint() -> None:
    done = redact_text(f"go {TOKEN}!", fingerprint_key=KEY)
    assert done.text.startswith("go «github-token 40 chars #")
    assert done.text.endswith("»!")
    assert done.findings[0].redacted in done.text


def test_two_secrets_look_different_and_the_same_one_looks_the_same() -> None:
    other = "gh" + "p_" + body(36, seed=8)
    assert redacted(TOKEN) != redacted(other)
    assert redacted([TOKEN, other]) == [redacted(TOKEN), redacted(other)]


def test_the_fingerprint_is_keyed() -> None:
    assert redacted(TOKEN) != redact(TOKEN, fingerprint_key=b"another").value


def test_without_a_key_there_is_no_fingerprint() -> None:
    assert "#" not in find_secrets(TOKEN)[0].redacted


def test_a_value_without_secrets_comes_back_as_it_is() -> None:
    value = {"a": [1, 2.5, None, True, "text"], "b": {"c": "d"}}
    assert redacted(value) is value


def test_everything_else_stays_in_its_place() -> None:
    value = {"n": 1, "list": [None, True, TOKEN, "x"], "flag": False}
    done = redacted(value)
    assert done == {
        "n": 1,
        "list": [None, True, redacted(TOKEN), "x"],
        "flag": False,
    }
    assert value["list"] == [None, True, TOKEN, "x"]


def test_a_secret_is_hidden_wherever_it_stands_again() -> None:
    value = {"password": PASSWORD, "log": f"tried {PASSWORD}", PASSWORD: [PASSWORD]}
    assert PASSWORD not in json.dumps(redacted(value), ensure_ascii=False)


def test_an_ordinary_word_is_hidden_only_where_it_is_the_secret() -> None:
    text = "docker run -e DB_PASSWORD=rocket rocket/server:2 --name rocketry"
    shown = str(redacted(text))
    assert shown.endswith(" rocket/server:2 --name rocketry")
    assert "DB_PASSWORD=«password 6 chars #" in shown
    mixed = text.replace("rocket", "roc" + "k3tz")
    assert "k3tz" not in str(redacted(mixed))


def test_a_number_that_repeats_a_secret_is_hidden_too() -> None:
    done = redacted({"password": "8675" + "309", "phone": 8675309, "other": 12})
    assert "8675" not in json.dumps(done)
    assert done["other"] == 12  # type: ignore[index]


def test_hidden_keys_do_not_push_each_other_out() -> None:
    keys = {TOKEN: 1, TOKEN + "!": 2, f"{TOKEN}?": 3}
    assert len(redacted(keys)) == 3  # type: ignore[arg-type]
    same = {f"x{TOKEN[4:16]}": 1, f"x{TOKEN[5:17]}": 2, "t": TOKEN}
    assert len(redacted(same)) == 3  # type: ignore[arg-type]


def test_the_name_of_a_secret_does_not_give_it_away() -> None:
    """The words of the label and the key are also words of these secrets."""
    for secret in ("own-pass" + "word-2024", "40 chars #" + "12", "«hidden 9 chars»x9"):
        done = redact({"password": secret}, fingerprint_key=KEY)
        text = json.dumps(done.value, ensure_ascii=False)
        assert not list_windows(secret) & list_windows(text), text


@each_row(("form", "secret"), FOUND, ids=numbered(form for form, _ in FOUND))
def test_what_was_written_by_the_redactor_is_not_found_again(
    form: str, secret: str
) -> None:
    once = redact_text(form.replace("§", secret), fingerprint_key=KEY)
    assert redact_text(once.text, fingerprint_key=KEY).findings == ()


def test_a_forged_label_does_not_hide_a_secret() -> None:
    for forged in (f"«{PASSWORD}»", f"«{PASSWORD} 7 chars»", f"«{PASSWORD}-x 7 chars»"):
        assert find_secrets({"password": forged}), forged


ALPHABETS = st.sampled_from([WORD, SAFE, "0123456789abcdef", WORD + "!@%^&*+/=:~"])
FORMS = st.sampled_from(
    [
        "§",
        'password = "§"',
        "password=§",
        "DB_PASSWORD=§\nA=1",
        "postgres://bob:§@db/x",
        "Authorization: Bearer §",
        '{"client_secret": "§"}',
        "curl -u bob:§ https://host",
        "gh" + "p_§",
        "xo" + "xb-§",
        "x s" + "k-ant-§ y",
        "-----BEGIN RSA " + "PRIVATE KEY-----\n§\n-----END RSA " + "PRIVATE KEY-----",
    ]
)


@st.composite
def leaks(draw: st.DrawFn) -> tuple[str, object]:
    """A secret, and a value that holds it and pieces of it in several places."""
    alphabet = draw(ALPHABETS)
    secret = draw(st.text(alphabet, min_size=5, max_size=60))
    form = draw(FORMS)
    start = draw(st.integers(0, len(secret) - 1))
    end = draw(st.integers(start, len(secret)))
    around = draw(st.text(max_size=20))
    value = {
        "main": around + "\n" + form.replace("§", secret) + "\n" + around,
        "piece": around + secret[start:end] + around,
        draw(st.text(max_size=8)) + secret[start:end]: [secret, {"again": secret * 2}],
    }
    return secret, value


@steadily
@given(leak=leaks())
def test_no_five_characters_of_a_found_secret_are_left_anywhere(
    leak: tuple[str, object],
) -> None:
    secret, value = leak
    assume(not is_ordinary_word(secret))
    done = redact(value, fingerprint_key=KEY)
    main = value["main"]  # type: ignore[index]
    spans = [finding.span for finding in done.findings if finding.path == "/main"]
    at = main.index(secret)
    assume(any(start <= at and end >= at + len(secret) for start, end in spans))
    told = [text for found in done.findings for text in (found.path, found.redacted)]
    shown = "\n".join([*_texts(done.value), *told])
    left = {window for window in list_windows(secret) if window in shown}
    assert not left


@settings(steadily, max_examples=12)
@given(
    many=st.sampled_from([HIT_LIMIT, HIT_LIMIT + 1, 300, 650, 2_000]),
    form=st.sampled_from(["password='§'\n", " gh" + "p_§", "https://bob:§@db/ "]),
    seed=st.integers(0, 1_000),
)
def test_however_many_there_are_nothing_of_them_is_left(
    many: int, form: str, seed: int
) -> None:
    """Up to a number they are told, up to another they are hidden one by one, and
    beyond that the value is hidden as a whole."""
    secrets = [body(36, seed=seed + number) for number in range(many)]
    value = {
        "one": "".join(form.replace("§", secret) for secret in secrets),
        "again": [secrets[-1], f"log: {secrets[many // 2]}!", {secrets[0]: 12}],
        "fine": "nothing of it",
    }
    done = redact(value, fingerprint_key=KEY)
    assert 0 < len(done.findings) <= HIT_LIMIT
    more = many > HIT_LIMIT
    assert (UNREAD in {finding.kind for finding in done.findings}) is more
    told = [text for found in done.findings for text in (found.path, found.redacted)]
    pieces = set().union(*map(list_windows, secrets))
    shown = [*_texts(done.value), *told]
    assert not any(pieces & list_windows(text) for text in shown)


def test_a_value_that_is_hidden_whole_keeps_its_shape_and_our_keys() -> None:
    long = "".join(f"password={body(9, seed=n)}\n" for n in range(2_000))
    value = {"ours": {"a": [long, 1, None, True], "b": {}}, "c": ""}
    own = frozenset({("ours",)})
    done = redact(value, fingerprint_key=KEY, own_keys=own)
    hidden = {"«…»": ["«…»", "«…»", None, True], "«…»'1": {}}
    assert done.value == {"ours": hidden, "«…»": ""}
    assert [finding.path for finding in done.findings] == ["/ours/«…»/0"]


def test_a_secret_is_looked_for_only_in_as_many_places_as_are_worth_it() -> None:
    """A text of nothing but pieces of pieces is hidden, not taken apart."""
    value = {"password": "abcab" + "cabd7", "log": "abcabx" * 12_000, "fine": "words"}
    done = redact(value, fingerprint_key=KEY)
    assert done.value["log"] == "«…»"  # type: ignore[index]


@pytest.mark.parametrize(
    "after", [";$(x)", "|$(x)", "&&${FOO}", "|{{x}}", ";echo", " -u x", "\n"]
)
def test_what_follows_a_password_does_not_hide_it(after: str) -> None:
    secret = "hunter2Xq9" + "Zr4Lm"
    shown = str(redacted(f"docker login -p {secret}{after}"))
    assert secret not in shown
    assert after in shown


def test_a_long_value_in_quotes_is_hidden_to_the_closing_one() -> None:
    first, second = body(1_100), body(40, seed=2)
    shown = str(redacted(f'mysql -p"{first} {second}" shop'))
    assert second[:5] not in shown
    assert shown.endswith('" shop')


@pytest.mark.parametrize("words", [["mysql", "-p§"], ["sshpass", "-p", "§", "ssh"]])
def test_a_long_word_of_a_command_is_hidden_to_its_end(words: list[str]) -> None:
    secret = body(3_000)
    given = [word.replace("§", secret) for word in words]
    for value in (given, " ".join(given)):
        shown = str(redacted(value))
        assert words[0] in shown
        assert secret[-5:] not in shown


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        parts = [text for item in value.items() for text in _texts(list(item))]
        return parts
    if isinstance(value, list):
        return [text for part in value for text in _texts(part)]
    return [str(value)]


@steadily
@given(
    secret=st.text(WORD, min_size=3, max_size=WINDOW - 1), around=st.text(max_size=9)
)
def test_a_short_secret_is_hidden_wherever_it_stands(secret: str, around: str) -> None:
    assume(not is_ordinary_word(secret))
    value = {"password": secret, "log": around + secret + around}
    done = redact(value, fingerprint_key=KEY)
    assume(done.findings)
    assert secret not in "\n".join(_texts(done.value))


@steadily
@given(text=st.text(max_size=300))
def test_any_text_can_be_redacted_and_stays_redacted(text: str) -> None:
    once = redact_text(text, fingerprint_key=KEY)
    if not once.findings:
        assert once.text == text


def test_a_setting_or_a_sentence_is_not_the_name_of_what_follows_it() -> None:
    secret = "Zx81" + "q7Lm" * 3
    assert find_secrets(["password", secret])
    assert find_secrets(["'password':", secret])
    assert not find_secrets(['password = "<your password>"', "password=$DB_PASSWORD"])


@steadily
@given(
    pieces=st.lists(
        st.sampled_from([*LET_ALONE, *(form for form, _ in FOUND)]), max_size=4
    ),
    data=st.data(),
)
def test_hidden_together_as_well_as_alone(
    pieces: list[str], data: st.DataObject
) -> None:
    """Many texts are read as one first; that must not hide what one of them holds."""
    secret = "Zx81" + data.draw(st.text(WORD, min_size=12, max_size=12))
    texts = [piece.replace("§", secret) for piece in pieces]
    alone = {number for number, text in enumerate(texts) if find_secrets(text)}
    together = {int(found.path[1:]) for found in find_secrets(texts)}
    assert together == alone
