"""What is judged before a body is read: headers, hosts, origins, credentials, routes."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from django.conf import settings
from django.test.utils import override_settings

from common.errors import DomainError, Unauthenticated, Unavailable
from config.fastpath import bodies, guard
from config.fastpath.asgi import (
    OVER_LIMIT,
    Message,
    Receive,
    Scope,
    Send,
    get_header,
    get_headers,
)
from config.fastpath.guard import Guard
from config.fastpath.headers import (
    HEADER_BYTES,
    HEADER_COUNT,
    check_head,
    parse_query,
)
from config.fastpath.origins import SameOrigin
from config.fastpath.routes import OTHER, ROUTES, find_route
from tests.support.browsing import open_browser
from tests.support.builders import Person, Robot
from tests.support.rows import each_row

pytestmark = pytest.mark.once("reads heads of requests, not SQL")

T = TypeVar("T")
JSON = "application/json"


def run(work: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(work)


def make_scope(*headers: tuple[str, str], query: bytes = b"", **more: Any) -> Scope:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers]
    return {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/runs",
        "query_string": query,
        "headers": raw,
        **more,
    }


def refusal(scope: Scope) -> str | None:
    try:
        check_head(scope)
    except DomainError as error:
        return error.slug
    return None


def test_a_head_has_so_many_headers_of_so_many_bytes() -> None:
    assert (HEADER_COUNT, HEADER_BYTES) == (100, 32_768)
    for count, slug in ((100, None), (101, "malformed")):
        assert refusal(make_scope(*[("x", "y")] * count)) == slug
    for size, slug in ((32_766, None), (32_767, "malformed")):
        assert refusal(make_scope(("ab", "y" * size))) == slug
    half = "y" * 16_383
    assert refusal(make_scope(("x", half), ("y", half))) is None
    assert refusal(make_scope(("x", half), ("y", half + "y"))) == "malformed"


@each_row(
    "name",
    [
        *("host", "content-type", "content-encoding", "idempotency-key"),
        "last-event-id",
    ],
)
def test_what_means_one_thing_stands_once(name: str) -> None:
    assert refusal(make_scope((name, "localhost"), (name, "localhost"))) == "malformed"


@each_row(
    ("host", "fine"),
    [
        ("checkrail.example", True),
        ("Checkrail.Example:8000", True),
        ("[::1]:8000", True),
        ("evil.example", False),
        ("checkrail.example.evil.example", False),
        ("checkrail.example@evil.example", False),
        ("", False),
        (":80", False),
    ],
)
def test_a_host_that_is_not_served_here_is_refused(host: str, fine: bool) -> None:
    with override_settings(ALLOWED_HOSTS=["checkrail.example", "[::1]"]):
        assert (refusal(make_scope(("host", host))) is None) == fine
        assert refusal(make_scope()) is None  # HTTP/1.0 sends none


@each_row(
    ("query", "slug"),
    [
        (b"a=%C3%BC&b=1", None),
        (b"a=%FF", "bad-encoding"),
        (b"a=\xff", "bad-encoding"),
        (b"a=x%00", "bad-encoding"),
        (b"%00", "bad-encoding"),
    ],
)
def test_a_query_is_clean_text(query: bytes, slug: str | None) -> None:
    assert refusal(make_scope(query=query)) == slug


def test_the_last_of_a_name_counts_and_an_empty_one_too() -> None:
    scope = make_scope(query=b"a=1&a=2&b=&c=%2B+x")
    assert parse_query(scope) == {"a": "2", "b": "", "c": "+ x"}


HOST = "checkrail.example"


@each_row(
    ("scheme", "host", "origin", "ours"),
    [
        ("ws", HOST, f"http://{HOST}", True),
        ("ws", f"{HOST}:8000", f"http://{HOST}:8000", True),
        ("ws", f"{HOST}:8000", f"http://{HOST}", False),
        ("ws", HOST, f"http://{HOST}:80", False),
        ("wss", HOST, f"https://{HOST}", True),
        ("wss", HOST, f"http://{HOST}", False),
        ("ws", "[::1]:8000", "http://[::1]:8000", True),
        ("ws", "[::1]", "http://[::1]", True),
        ("ws", "evil.example", "http://evil.example", False),
        ("ws", HOST, None, False),
        ("ws", HOST, "null", False),
        ("ws", None, "http://", False),
    ],
)
def test_a_socket_is_for_pages_of_the_same_origin(
    scheme: str, host: str | None, origin: str | None, ours: bool
) -> None:
    headers = [("host", host), ("origin", origin)]
    scope = make_scope(*((n, v) for n, v in headers if v is not None), scheme=scheme)
    heard: list[Message] = []

    async def accept(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "websocket.accept"})

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        heard.append(message)

    with override_settings(ORIGINS=[], ALLOWED_HOSTS=[HOST, "[::1]"]):
        run(SameOrigin(accept)(scope, receive, send))
    closed = {"type": "websocket.close", "code": 4403}
    assert heard == [{"type": "websocket.accept"} if ours else closed]


def admit(path: str, scope: Scope, *pieces: bytes) -> guard.Admitted:
    """Let a request with these pieces of a body in."""
    rest = [*pieces] or [b""]

    async def receive() -> Message:
        piece = rest.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(rest)}

    route, _ = find_route(scope["method"], path)
    return run(Guard().admit(route, {**scope, "path": path}, receive))


def test_a_connection_that_is_one_too_many_is_told_so() -> None:
    scope = {**make_scope(), OVER_LIMIT: True}
    with pytest.raises(Unavailable):
        admit("/api/v1/healthz", scope)
    page = Guard().admit_page(scope, None)  # type: ignore[arg-type]
    with pytest.raises(Unavailable):
        run(page)


def test_who_shows_nothing_is_let_in_where_everybody_is(robo: Robot) -> None:
    bearer = ("authorization", f"Bearer {robo.key}")
    for path in ("/api/v1/healthz", "/api/v1/openapi.json", "/api/v1/docs"):
        assert admit(path, make_scope(method="GET")).principal is None
    for scope in (
        make_scope(),
        make_scope(("authorization", "")),
        make_scope(("authorization", "Bearer crk_x")),
        make_scope(bearer, bearer),
        make_scope(("cookie", "x=1"), ("authorization", "Bearer crk_x")),
    ):
        with pytest.raises(Unauthenticated):
            admit("/api/v1/runs", scope)
    # Also where nobody need show anything: a wrong key is a mistake to be told of.
    with pytest.raises(Unauthenticated):
        admit("/api/v1/healthz", make_scope(("authorization", "Bearer crk_x")))
    assert admit("/api/v1/runs", make_scope(("cookie", "x=1"))).principal is None
    found = admit("/api/v1/runs", make_scope(bearer)).principal
    assert found == robo.principal


def test_what_is_wrong_with_a_head_or_a_length_is_said_before_anything_is_read() -> (
    None
):
    with (
        override_settings(ALLOWED_HOSTS=["checkrail.example"]),
        pytest.raises(DomainError, match="not served here"),
    ):
        admit("/api/v1/healthz", make_scope(("host", "evil.example"), method="GET"))

    async def never() -> Message:
        raise AssertionError

    for length, words in (("8193", "At most 8,192"), ("many", "At most 8,192")):
        scope = make_scope(("content-length", length))
        with pytest.raises(DomainError, match=words):
            run(Guard().admit_page(scope, never))


def test_how_much_is_read_depends_on_who_sends_it(robo: Robot, bob: Person) -> None:
    name = settings.SESSION_COOKIE_NAME
    session = open_browser(bob.user).cookies[name].value
    signed_in, made_up = f"{name}={session}", f"{name}={'x' * 32}"
    bearer = ("authorization", f"Bearer {robo.key}")
    kind = ("content-type", JSON)
    chunked = ("transfer-encoding", "chunked")
    limit, stranger = bodies.JSON.limit, bodies.STRANGER_LIMIT
    assert (limit, stranger) == (1_048_576, 8_192)
    for who, most in (
        (bearer, limit),
        (("cookie", signed_in), limit),
        (("cookie", made_up), stranger),
        (("cookie", "other=1"), stranger),
    ):
        scope = make_scope(who, kind, chunked)
        got = admit("/api/v1/runs", scope, b"x" * (most - 1), b"x")
        assert len(got.raw) == most
        with pytest.raises(DomainError, match=f"At most {most:,} bytes") as refused:
            admit("/api/v1/runs", scope, b"x" * most, b"x")
        assert refused.value.slug == "too-large"
        assert ("not signed in" in refused.value.detail) == (most == stranger)
    short = make_scope(("cookie", signed_in), kind, ("content-length", "8192"))
    with pytest.raises(DomainError, match="At most 8,192"):
        admit("/api/v1/runs", short, b"x" * 8_193)  # it said that it was short


def test_a_request_without_a_body_is_not_waited_for(robo: Robot) -> None:
    bearer = ("authorization", f"Bearer {robo.key}")
    for method in ("GET", "HEAD", "OPTIONS"):
        scope = make_scope(bearer, ("content-length", "9"), method=method)
        assert admit("/api/v1/runs", scope).raw == b""


def test_the_routes_that_need_something_of_their_own() -> None:
    """Whoever adds a route says here what it may do that others may not."""

    def list_paths(wanted: str) -> set[str]:
        return {route.path for route in ROUTES if getattr(route, wanted)}

    assert list_paths("public") == {
        *("/openapi.json", "/docs", "/policies/schema.json", "/healthz", "/readyz"),
        "/status",
    }
    hooks = {route.path for route in ROUTES if route.path.startswith("/hooks/")}
    assert list_paths("fails_closed") == hooks
    assert list_paths("waits") == {
        "/runs/{run}/decision",
        *(path for path in hooks if "rest" not in path),
    }
    larger = {route.path for route in ROUTES if route.body.limit > bodies.JSON.limit}
    assert larger == {"/hooks/{dialect}/{event:PostToolUse|PostToolUseFailure}"}
    for route in ROUTES:
        if route.schema is not None and "/evaluate/" not in route.path:
            assert route.require is not None, route.path


@each_row(
    ("method", "path", "found"),
    [
        ("POST", "/runs/1/steps", "/runs/{run}/steps"),
        ("GET", "/runs/1/steps", None),
        ("POST", "/runs/1/steps/", None),
        ("POST", "/runs/1/2/steps", None),
        ("POST", "/runs", "/runs"),
        ("GET", "/runs", None),
        ("POST", "/hooks/codex/Stop", "/hooks/{dialect}/{event}"),
        ("POST", "/hooks/codex/a/b", "/hooks/{rest:.*}"),
        ("POST", "/hooks/", "/hooks/{rest:.*}"),
        ("POST", "/hooks/codex/\nStop", "/hooks/{dialect}/{event}"),
        ("POST", "/hooks/a/b\n/c", "/hooks/{rest:.*}"),
        ("GET", "/healthz", "/healthz"),
        ("HEAD", "/healthz", "/healthz"),
        ("GET", "/healthz/x", None),
        ("PUT", "/otlp/v1/traces", "/otlp/v1/traces"),
        ("PUT", "/runs/1/steps", None),
        ("DELETE", "/policies/schema.json", None),
    ],
)
def test_a_request_is_treated_as_its_whole_address_says(
    method: str, path: str, found: str | None
) -> None:
    route, names = find_route(method, f"/api/v1{path}")
    assert route.path == (found or OTHER.path)
    if found == "/runs/{run}/steps":
        assert names == {"run": "1"}
    assert find_route(method, f"/api/v2{path}")[0] is OTHER


def test_headers_that_are_replaced_on_the_way_are_read_anew() -> None:
    scope: Scope = {"headers": [(b"host", b"a"), (b"accept", b"x"), (b"accept", b"y")]}
    assert get_headers(scope, b"accept") == ["x", "y"]
    assert (get_header(scope, b"host"), get_header(scope, b"cookie")) == ("a", None)
    scope["headers"] = [(b"host", b"b")]
    assert (get_header(scope, b"host"), get_headers(scope, b"accept")) == ("b", [])
