"""What every request carries, how long it may take, and where it never goes."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from checkrail import (
    Checkrail,
    ConfigurationError,
    Forbidden,
    NotFound,
    Problem,
    ProtocolError,
    RateLimited,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from checkrail.testing import fake_checkrail, nobody
from checkrail.testing.rail import FakeRail
from checkrail.transport.connection import build_connection
from checkrail.transport.pools import AsyncPool, Pool
from checkrail.transport.responses import Response, parse_document, parse_problem
from checkrail.version import __version__


def build_client(url: str = "http://checkrail.test", **more: Any) -> Checkrail:
    return Checkrail(url, "crk_x", **more)


class Keeping(httpx.MockTransport):
    """Keeps what is sent, and answers by the fake."""

    def __init__(self, rail: FakeRail) -> None:
        self.sent: list[httpx.Request] = []
        self._rail = rail
        super().__init__(self._keep)

    def _keep(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return self._rail.transport.handle_request(request)


def test_every_request_says_who_asks_and_what_it_is() -> None:
    with fake_checkrail() as rail:
        transport = Keeping(rail)
        with build_client(transport=transport).run("Headers") as run:
            run.refresh()
    assert {request.method for request in transport.sent} == {"GET", "POST"}
    for request in transport.sent:
        assert request.headers["authorization"] == "Bearer crk_x"
        assert request.headers["accept"] == "application/json"
        assert request.headers["user-agent"] == f"checkrail-python/{__version__}"
        wanted = "application/json" if request.method == "POST" else None
        assert request.headers.get("content-type") == wanted


def test_what_is_sent_from_inside_a_session_is_marked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHECKRAIL_AGENT_SESSION", "claude-code:7 \r\nX: y" + "z" * 300)
    with fake_checkrail() as rail:
        Checkrail().run("Marked").close()
        mark = rail.requests[0].headers["checkrail-agent-session"]
    assert mark.startswith("claude-code:7---X:-yz")
    assert len(mark) == 200, "a header that a server would refuse is no mark"


def test_timeouts_are_the_callers_and_a_long_wait_has_its_own() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        transport = Keeping(rail)
        client = build_client(transport=transport, connect_timeout=1, read_timeout=2)
        run = client.run("Timeouts")
        review = run.open_review("request", "May I?")
        run.standing(review)
        run.standing(review, wait=20)
        run.close()
    started, *_, asked, waited = [
        request.extensions["timeout"] for request in transport.sent
    ]
    assert started == {"connect": 1, "read": 2, "write": 2, "pool": 2}
    assert asked == {**started, "read": 15}
    # Longer than the server takes for a long poll, else every one of them is cut off.
    assert waited == {**started, "read": 35}


@pytest.mark.parametrize("kind", [Pool, AsyncPool])
def test_connections_are_encrypted_checked_and_as_many_as_there_are_waits(
    kind: type[Pool | AsyncPool],
) -> None:
    connection = build_connection("https://checkrail.test", "crk_x", name="KEY")
    pool = kind(connection, None)
    inner = pool._client._transport._pool  # type: ignore[union-attr]
    assert inner._ssl_context.verify_mode == ssl.CERT_REQUIRED
    assert inner._ssl_context.check_hostname
    assert inner._max_connections > 10_000
    assert inner._max_keepalive_connections > 10_000
    assert pool._client.timeout == httpx.Timeout(30, connect=5)


def test_a_redirect_is_not_followed() -> None:
    """The key would go along, to whoever it names."""
    asked: list[str] = []

    def redirect(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"Location": "http://other.invalid/"})

    client = build_client(transport=httpx.MockTransport(redirect))
    with pytest.raises(ProtocolError, match=r"307 to http://other\.invalid/: is the"):
        client.run("Elsewhere")
    assert asked == ["checkrail.test"]


def test_a_wrong_address_is_not_tried_again() -> None:
    wrong = [httpx.UnsupportedProtocol("no such protocol"), httpx.InvalidURL("no host")]
    for error in wrong:
        with fake_checkrail() as rail:
            rail.trouble(error)
            with pytest.raises(ConfigurationError, match="cannot be used: no "):
                Checkrail().run("Wrong")
            assert (rail.slept, len(rail.requests)) == ([], 1)


def test_addresses_and_keys_are_taken_as_people_copy_them() -> None:
    for url in ("http://h/", " http://h/api/v1 ", "http://h/api/v1/"):
        connection = build_connection(url, " crk_x\n", name="KEY")
        assert (connection.base, connection.secret) == ("http://h/api/v1", "crk_x")
    for key in ("crk_a\nb", "crk_\x07"):
        with pytest.raises(ConfigurationError, match="KEY contains characters"):
            build_connection("http://h", key, name="KEY")


def test_an_id_is_one_part_of_the_address_whatever_is_in_it() -> None:
    seen: list[bytes] = []

    def show(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(404)

    with pytest.raises(NotFound):
        build_client(transport=httpx.MockTransport(show)).resume("../me?x=1#y")
    assert seen == [b"/api/v1/runs/..%2Fme%3Fx%3D1%23y"]


def test_what_a_server_says_of_its_return() -> None:
    now = datetime.now(UTC)
    later, earlier = now + timedelta(seconds=90), now - timedelta(hours=1)
    without_zone = later.strftime("%a, %d %b %Y %H:%M:%S -0000")
    for header, low, high in (
        (" 7 ", 7, 7),
        ("0", 0, 0),
        (format_datetime(later, usegmt=True), 60, 90),
        (without_zone, 60, 90),
        (format_datetime(earlier, usegmt=True), 0, 0),
    ):
        found = Response(503, {"retry-after": header}, b"").retry_after
        assert found is not None, header
        assert low <= found <= high, header
    for header in ("", "soon", "-1", "1.5", "²"):
        assert Response(503, {"retry-after": header}, b"").retry_after is None, header
    assert Response(503, {}, b"").retry_after is None


def test_what_a_proxy_says_in_its_own_words_is_a_refusal_too() -> None:
    for status, kind in {
        400: Problem,
        401: Unauthenticated,
        403: Forbidden,
        404: NotFound,
        408: Unavailable,
        413: TooLarge,
        429: RateLimited,
        500: Problem,
        502: Unavailable,
        503: Unavailable,
        504: Unavailable,
    }.items():
        for body in (b"<h1>Nope</h1>", b'["nope"]', b"\xff"):
            problem = parse_problem(Response(status, {}, body))
            assert type(problem) is kind, status
            assert (problem.status, problem.slug, problem.errors) == (status, "", ())
            assert problem.extra == {}
            assert problem.detail == body.decode("utf-8", "replace")


def test_of_a_refusal_only_what_is_well_formed_is_taken() -> None:
    problem = parse_problem(
        Response(
            422,
            {"retry-after": "4"},
            b'{"type": "https://elsewhere.test/invalid", "errors": ["x", {"loc": []}],'
            b' "expected": 4, "title": "", "status": 422}',
        )
    )
    assert (problem.slug, problem.retry_after) == ("", 4)
    assert problem.errors == ({"loc": []},)
    assert problem.extra == {"expected": 4}
    assert problem.title == "The request was refused"
    listed = parse_problem(Response(422, {}, b'{"errors": {"loc": []}}'))
    assert listed.errors == ()
    assert len(parse_problem(Response(500, {}, b"x" * 900)).detail) == 200
    assert parse_problem(Response(500, {}, b"")).detail == "No reason was given."


def test_only_a_document_of_success_is_an_answer() -> None:
    connection = build_connection("http://h", "crk_x", name="KEY")
    assert parse_document(connection, Response(200, {}, b"[1]")) == [1]
    for status in (199, 304):
        with pytest.raises(ProtocolError, match="nowhere: is the address right"):
            parse_document(connection, Response(status, {}, b"{}"))
    with pytest.raises(ProtocolError, match="is it Checkrail"):
        parse_document(connection, Response(200, {}, b""))
    with pytest.raises(Problem):
        parse_document(connection, Response(400, {}, b"{}"))


def test_nothing_that_was_given_is_left_out_of_a_step() -> None:
    with fake_checkrail() as rail, Checkrail().run("Zeros") as run:
        run.step(uncertainty=0.0, coherence=0.0, failed_calls=0, duration_ms=0)
        run.step()
    assert rail.steps == [
        {
            "number": 1,
            "tokens": 0,
            "tool_calls": 0,
            "duration_ms": 0,
            "coherence": 0.0,
            "uncertainty": 0.0,
            "failed_calls": 0,
        },
        {"number": 2, "tokens": 0, "tool_calls": 0},
    ]


def test_a_step_that_cannot_be_sent_stands_in_nobodys_way() -> None:
    with fake_checkrail() as rail, Checkrail().run("Odd") as run:
        with pytest.raises(ValueError, match="lone surrogate"):
            run.step(summary="\ud800")
        with pytest.raises(ValueError, match="not JSON compliant"):
            run.step(uncertainty=float("nan"))
        run.step(tokens=1)
    assert [step["tokens"] for step in rail.steps] == [1]
