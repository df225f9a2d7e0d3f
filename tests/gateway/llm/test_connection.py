"""The connection to a model goes where it was set to go, by no other way."""

from __future__ import annotations

import ssl
from typing import Any

import httpx
import pytest

from gateway.llm.client import ask
from tests.gateway.llm.models import FORMATS, model, says
from tests.gateway.llm.test_client import BLUE, QUESTION

pytestmark = pytest.mark.parametrize("wire", FORMATS)


async def test_no_proxy_and_no_netrc_of_the_environment_is_used(
    wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        for spelled in (name, name.lower()):
            monkeypatch.setenv(spelled, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with model(wire, says(wire, BLUE)):
        assert (await ask(QUESTION)).document == {"word": "blue"}


async def test_certificates_are_checked_and_everything_has_a_time(
    wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[dict[str, Any]] = []

    class Noting(httpx.AsyncClient):
        def __init__(self, **options: Any) -> None:
            used.append(options)
            super().__init__(**options)

    monkeypatch.setattr("gateway.llm.client.httpx.AsyncClient", Noting)
    async with model(wire, says(wire, BLUE)):
        await ask(QUESTION)
    (options,) = used
    assert options["verify"].verify_mode == ssl.CERT_REQUIRED
    assert options["verify"].check_hostname
    assert options["timeout"] > 0
    assert options["follow_redirects"] is False
    assert options["trust_env"] is False
