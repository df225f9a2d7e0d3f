"""Browsers that a person has signed in with before: guesses of strangers do not stop them.

A signed cookie says for which name a browser is known. It opens nothing: it only gives
the browser attempts of its own, so that nobody else can use them up.
"""

from __future__ import annotations

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare

KNOWN_COOKIE = "__Host-known" if settings.HTTPS else "checkrail_known"
KNOWN_SECONDS = 180 * 24 * 3600
_SALT = "accounts.known-browser"


def get_known_browser(request: HttpRequest, name: str) -> str | None:
    """What tells this browser from others, if it is known for this name."""
    given = request.COOKIES.get(KNOWN_COOKIE, "")
    nonce, _, signature = given.partition(".")
    if not nonce or not constant_time_compare(signature, _sign(nonce, name)):
        return None
    return nonce


def remember_browser(response: HttpResponse, name: str) -> None:
    nonce = secrets.token_urlsafe(16)
    response.set_cookie(
        KNOWN_COOKIE,
        f"{nonce}.{_sign(nonce, name)}",
        max_age=KNOWN_SECONDS,
        path="/",
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )


def _sign(nonce: str, name: str) -> str:
    # With its length, so that no part of a name can pass for a part of the nonce.
    return signing.Signer(salt=_SALT).signature(f"{len(nonce)}:{nonce}:{name}")
