"""A model is set up by the environment alone: whole, or not at all."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from config.environment import build_llm_settings, read_environment
from gateway.llm.endpoint import Endpoint, get_endpoint
from tests.gateway.llm.models import KEY
from tests.support.processes import manage

WHOLE = {
    "URL": "https://llm.example/v1/messages?v=2",
    "FORMAT": "anthropic",
    "MODEL": "some-model",
    "KEY": KEY,
}


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*WHOLE, "TIMEOUT_S", "INPUT_PRICE", "OUTPUT_PRICE"):
        monkeypatch.delenv(f"CHECKRAIL_LLM_{name}", raising=False)


def read(monkeypatch: pytest.MonkeyPatch, **variables: str | None) -> object:
    for name, value in variables.items():
        if value is not None:
            monkeypatch.setenv(f"CHECKRAIL_LLM_{name}", value)
    return build_llm_settings(read_environment())


def test_nothing_set_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch) is None
    assert settings.LLM is None
    assert get_endpoint() is None


def test_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = {"INPUT_PRICE": "2.5", "OUTPUT_PRICE": "10"}

    assert read(monkeypatch, **WHOLE, **prices, TIMEOUT_S="7") == {
        "url": "https://llm.example/v1/messages?v=2",
        "format": "anthropic",
        "model": "some-model",
        "key": KEY,
        "timeout_s": 7,
        "prices": (2_500_000, 10_000_000),
    }


@pytest.mark.parametrize("host", ["127.0.0.1:9", "localhost", "[::1]:9", "127.8.8.8"])
def test_a_model_on_this_machine_needs_neither_tls_nor_key(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    chosen = WHOLE | {"URL": f"http://{host}/v1"}
    del chosen["KEY"]
    read_settings = read(monkeypatch, **chosen)

    assert isinstance(read_settings, dict)
    assert read_settings["key"] is None
    assert read_settings["timeout_s"] == 20
    assert read_settings["prices"] is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"FORMAT": None}, "CHECKRAIL_LLM_URL needs CHECKRAIL_LLM_FORMAT beside it"),
        ({"MODEL": None}, "needs CHECKRAIL_LLM_MODEL beside"),
        ({"KEY": None}, "needs CHECKRAIL_LLM_KEY beside"),
        ({"KEY": None, "MODEL": None}, "CHECKRAIL_LLM_MODEL and CHECKRAIL_LLM_KEY"),
        ({"URL": None}, "CHECKRAIL_LLM_KEY and CHECKRAIL_LLM_MODEL: of no use without"),
        ({"URL": "http://llm.example/v1"}, "must begin with https://"),
        ({"URL": "http://10.0.0.1/v1"}, "must begin with https://"),
        ({"URL": "http://127.0.0.1.evil.example/"}, "must begin with https://"),
        ({"URL": "http://localhost.evil.example/"}, "must begin with https://"),
        ({"URL": "ftp://127.0.0.1/"}, "must begin with https://"),
        ({"URL": "https://me:secret@llm.example/"}, "neither a user nor a fragment"),
        ({"URL": "https://llm.example/#x"}, "neither a user nor a fragment"),
        ({"URL": "https://"}, "CHECKRAIL_LLM_URL is no address"),
        ({"URL": ""}, "CHECKRAIL_LLM_URL is no address"),
        ({"URL": "https://[::1"}, "CHECKRAIL_LLM_URL is no address"),
        ({"URL": "https://llm.example:x/"}, "CHECKRAIL_LLM_URL is no address"),
        ({"URL": "https://llm.example/a b"}, "CHECKRAIL_LLM_URL is no address"),
        ({"FORMAT": "gemini"}, "CHECKRAIL_LLM_FORMAT: Input should be 'openai' or"),
        ({"MODEL": ""}, "CHECKRAIL_LLM_MODEL"),
        ({"KEY": ""}, "needs CHECKRAIL_LLM_KEY beside"),
        ({"KEY": "secret\nx-evil: 1"}, "CHECKRAIL_LLM_KEY must be visible ASCII"),
        ({"KEY": "secrét"}, "CHECKRAIL_LLM_KEY must be visible ASCII"),
        ({"TIMEOUT_S": "0"}, "CHECKRAIL_LLM_TIMEOUT_S"),
        ({"TIMEOUT_S": "soon"}, "CHECKRAIL_LLM_TIMEOUT_S"),
        ({"INPUT_PRICE": "1"}, "CHECKRAIL_LLM_OUTPUT_PRICE go together"),
        ({"OUTPUT_PRICE": "1"}, "CHECKRAIL_LLM_OUTPUT_PRICE go together"),
        ({"INPUT_PRICE": "-1", "OUTPUT_PRICE": "1"}, "not an amount such as"),
        ({"INPUT_PRICE": "1e3", "OUTPUT_PRICE": "1"}, "not an amount such as"),
    ],
)
def test_half_of_it_is_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, str | None], sentence: str
) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        read(monkeypatch, **(WHOLE | changes))

    assert sentence in str(refused.value)
    assert "secr" not in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("name", ["TIMEOUT_S", "INPUT_PRICE", "KEY"])
def test_a_part_without_the_address_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"CHECKRAIL_LLM_{name}: of no use"):
        read(monkeypatch, **{name: "5"})


def test_a_process_with_half_a_model_does_not_start() -> None:
    ended = manage("check", CHECKRAIL_LLM_URL="https://llm.example/")

    assert ended.returncode != 0
    assert "CHECKRAIL_LLM_URL needs CHECKRAIL_LLM_FORMAT and" in ended.stderr


def test_the_key_is_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = read(monkeypatch, **WHOLE)
    assert isinstance(chosen, dict)

    assert KEY not in repr(read_environment())
    assert KEY not in repr(Endpoint(**chosen))
