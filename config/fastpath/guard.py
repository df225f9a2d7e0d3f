"""Admission, before anything is answered: who asks, how often, how much.

Credentials are judged on the headers alone, so that a stranger's body is never read. A
body is read once, up to the limit of its route; later parts find principal and document
in the scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.http import parse_cookie

from accounts.auth import (
    Principal,
    find_principal,
    get_cached_principal,
    get_known_principal,
    is_signed_in,
    parse_bearer_secret,
)
from accounts.secrets import hash_secret
from common.errors import Unauthenticated, Unavailable
from config.fastpath.asgi import OVER_LIMIT, Receive, Scope, get_header, get_headers
from config.fastpath.bodies import (
    JSON,
    STRANGER_LIMIT,
    check_form,
    check_length,
    read_body,
    replay_body,
)
from config.fastpath.headers import check_head
from config.fastpath.key_rate import KeyRate
from config.fastpath.key_scopes import check_scope
from config.fastpath.routes import Route
from ledger.writer.db_threads import run_in_db_thread

BODILESS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that was let in. `receive` hands on the body that was read."""

    principal: Principal | None
    raw: bytes
    receive: Receive


class Guard:
    def __init__(self) -> None:
        self._key_rate = KeyRate(per_second=settings.KEY_RATE)

    async def admit(self, route: Route, scope: Scope, receive: Receive) -> Admitted:
        """Let a request to /api/ in, or raise what is wrong with it."""
        _check_connection(scope)
        check_head(scope)
        secret = _get_secret(scope, public=route.public)
        principal: Principal | None = None
        if secret is not None:
            known = get_cached_principal(secret)
            if known is None:
                known = await run_in_db_thread(partial(find_principal, secret))
            check_scope(known, scope)
            self.count(known)
            principal = known
        if scope["method"] in BODILESS:
            return Admitted(principal, b"", receive)
        limit = route.body.limit
        if principal is None:
            limit = await _get_session_limit(scope, limit)
        check_form(scope, route.body, limit=limit)
        raw = await read_body(scope, receive, limit=limit)
        return Admitted(principal, raw, replay_body(raw, receive))

    def admit_known(self, route: Route, scope: Scope) -> tuple[Principal | None, str]:
        """The same for a request whose body is there, without counting it, and the digest
        of its secret; None where the bearer is not known yet, or is none."""
        _check_connection(scope)
        check_head(scope)
        secret = _get_secret(scope, public=route.public)
        if secret is None:
            return None, ""
        digest = hash_secret(secret)
        principal = get_known_principal(digest)
        if principal is not None:
            check_scope(principal, scope)
            check_form(scope, route.body, limit=route.body.limit)
        return principal, digest

    def count(self, principal: Principal) -> None:
        """Count a request of this key; raise where there are too many."""
        self._key_rate.check(principal)

    def is_over_rate(self, principal: Principal) -> bool:
        """Whether the next request of this key is refused, whatever is in it."""
        return self._key_rate.is_over(principal)

    async def admit_page(self, scope: Scope, receive: Receive) -> Receive:
        """Let a request for a page in: forms are small, and fill no disk of ours."""
        _check_connection(scope)
        if scope["method"] in BODILESS:
            return receive
        limit = await _get_session_limit(scope, JSON.limit)
        check_length(scope, limit=limit)
        return replay_body(await read_body(scope, receive, limit=limit), receive)


def _check_connection(scope: Scope) -> None:
    if scope.get(OVER_LIMIT):
        raise Unavailable("There are too many connections.")


def _get_secret(scope: Scope, *, public: bool) -> str | None:
    """The bearer's secret; None leaves it to the session cookie, if there is one."""
    credentials = get_headers(scope, b"authorization")
    if len(credentials) > 1:
        raise Unauthenticated("Send one Authorization header.")
    if credentials:
        return parse_bearer_secret(credentials[0])
    if public or get_header(scope, b"cookie") is not None:
        return None
    raise Unauthenticated


async def _get_session_limit(scope: Scope, limit: int) -> int:
    """Without a key: what a sign-in form needs, unless a session is signed in."""
    length = get_header(scope, b"content-length") or ""
    if length.isdigit() and int(length) <= STRANGER_LIMIT:
        return STRANGER_LIMIT
    cookies = parse_cookie(get_header(scope, b"cookie") or "")
    session = cookies.get(settings.SESSION_COOKIE_NAME)
    if session is None or not await run_in_db_thread(partial(is_signed_in, session)):
        return STRANGER_LIMIT
    return limit
