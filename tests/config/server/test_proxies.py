"""Who a client is, and that it came by TLS, is believed from configured proxies alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import read_environment
from config.fastpath.asgi import Receive, Scope, Send
from config.server.proxies import trust_proxies
from tests.support.processes import up
from tests.support.programs.ports import reserve_port
from tests.support.rows import each_row

FORWARDED = [(b"x-forwarded-for", b"198.51.100.7"), (b"x-forwarded-proto", b"https")]


def get_scope(
    proxies: list[str], *, peer: str, kind: str = "http", **more: Any
) -> Scope:
    """The scope that the application is given."""
    scopes: list[Scope] = []

    async def inner(scope: Scope, receive: Receive, send: Send) -> None:
        scopes.append(scope)

    async def nothing(*_: Any) -> Any:
        return {}

    scope = {
        "type": kind,
        "scheme": "ws" if kind == "websocket" else "http",
        "client": (peer, 4000),
        "headers": FORWARDED,
        **more,
    }

    async def serve() -> None:
        await trust_proxies(inner, proxies)(scope, nothing, nothing)

    asyncio.run(serve())
    return scopes[0]


@each_row(
    ("proxies", "peer"),
    [
        ([], "127.0.0.1"),
        (["127.0.0.1"], "127.0.0.2"),
        (["10.1.0.0/16"], "10.2.0.1"),
        (["::1"], "127.0.0.1"),
    ],
)
def test_others_are_not_believed(proxies: list[str], peer: str) -> None:
    scope = get_scope(proxies, peer=peer)
    assert (scope["client"][0], scope["scheme"]) == (peer, "http")


@each_row(
    ("proxies", "peer"),
    [
        (["127.0.0.1"], "127.0.0.1"),
        (["10.1.0.0/16"], "10.1.2.3"),
        (["::1", "127.0.0.1"], "::1"),
    ],
)
def test_a_configured_proxy_is_believed(proxies: list[str], peer: str) -> None:
    scope = get_scope(proxies, peer=peer)
    assert (scope["client"][0], scope["scheme"]) == ("198.51.100.7", "https")
    assert get_scope(proxies, peer=peer, kind="websocket")["scheme"] == "wss"


def test_what_a_client_put_before_the_proxy_is_not_believed() -> None:
    """Each proxy appends: the last address that is no proxy of ours is the client."""
    headers = [(b"x-forwarded-for", b"1.2.3.4, 198.51.100.7, 10.1.0.9")]
    scope = get_scope(["10.1.0.0/16"], peer="10.1.0.8", headers=headers)
    assert scope["client"][0] == "198.51.100.7"


@each_row(
    "value", ["*", "0.0.0.0/0", "::/0", "proxy.invalid", "10.1.0.0/33", "10.1.2.3/16"]
)
def test_what_is_no_proxy_is_refused_at_start(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("CHECKRAIL_PROXIES", value)
    with pytest.raises(ImproperlyConfigured, match="CHECKRAIL_PROXIES"):
        read_environment()


def test_nobody_is_believed_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHECKRAIL_PROXIES", raising=False)
    assert read_environment().proxies == ()
    monkeypatch.setenv("CHECKRAIL_PROXIES", " 127.0.0.1, 10.1.0.0/16,::1 ")
    assert read_environment().proxies == ("127.0.0.1", "10.1.0.0/16", "::1")


@pytest.mark.parametrize("proxies", ["127.0.0.1", ""])
def test_up_sees_https_behind_a_configured_proxy_only(
    database: None, tmp_path: Path, proxies: str
) -> None:
    variables = {
        "CHECKRAIL_HOSTS": "checkrail.invalid",
        "CHECKRAIL_ORIGINS": "https://checkrail.invalid",
        "CHECKRAIL_PROXIES": proxies,
    }
    with (
        reserve_port() as port,
        up(tmp_path, port=port, variables=variables) as server,
    ):
        answer = httpx.get(
            f"{server.live.url}/sign-in/", headers={"X-Forwarded-Proto": "https"}
        )
    # Django sends it over TLS alone.
    assert ("Strict-Transport-Security" in answer.headers) == bool(proxies)
