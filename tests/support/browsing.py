"""A signed-in browser without a browser: Django's test client for a person."""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import httpx
from django.conf import settings
from django.http import HttpResponse
from django.test import Client
from django.test.client import ClientHandler

from accounts.models import User
from tests.support.live import Live

FRAGMENT = {"HX-Request": "true", "HX-Request-Type": "partial"}


def open_client() -> Client:
    """Nobody's. All of them share one chain of middleware: to load one takes longer than
    most pages."""
    client = Client()
    client.handler = _load_handler()
    return client


@cache
def _load_handler() -> ClientHandler:
    handler = ClientHandler(enforce_csrf_checks=False)
    handler.load_middleware()
    return handler


def open_browser(user: User) -> Client:
    client = open_client()
    client.force_login(user)
    return client


def fragment(client: Client, path: str, **query: str) -> HttpResponse:
    """What htmx gets when it asks for a part of a page."""
    return cast(HttpResponse, client.get(path, query, headers=FRAGMENT))


def send(client: Client, path: str, **form: Any) -> HttpResponse:
    """What htmx gets when it posts a form."""
    return cast(HttpResponse, client.post(path, form, headers=FRAGMENT))


def download(live: Live, user: User, path: str) -> httpx.Response:
    """A file of the console; Django's client reads no stream that is made for a server."""
    cookie = open_browser(user).cookies[settings.SESSION_COOKIE_NAME].value
    cookies = {settings.SESSION_COOKIE_NAME: cookie}
    return httpx.get(f"{live.url}{path}", cookies=cookies, timeout=60)
