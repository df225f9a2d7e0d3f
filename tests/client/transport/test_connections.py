"""What every request carries, how long it may take, and where it never goes."""

from __future__ import annotations

import logging
import re
import ssl
from collections.abc import Callable
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
    Outage,
    Problem,
    ProtocolError,
    RateLimited,
    StillWaiting,
    TooLarge,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from checkrail.testing import fake_checkrail, nobody
from checkrail.testing.rail import FakeRail
from checkrail.transport.connection import build_connection
from checkrail.transport.pools import AsyncPool, Pool
from checkrail.transport.responses import Response, parse_document, parse_problem
from checkrail.transport.retry import SHORTEST_PAUSE
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


def test_a_return_that_is_just_in_time_is_waited_for() -> None:
    with fake_checkrail() as rail:
        run = Checkrail(retry_seconds=20).run("Just in time")
        rail.trouble(httpx.Response(503, headers={"Retry-After": "20"}))
        run.step()
        assert rail.slept == [20]
        run.close()


def test_a_server_that_says_come_at_once_is_not_asked_in_a_circle() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("At once")
        rail.trouble(*[httpx.Response(503, headers={"Retry-After": "0"})] * 4)
        run.step()
        assert all(
            0.1 * 2**n <= pause <= 0.11 * 2**n for n, pause in enumerate(rail.slept)
        )
        run.close()


def test_pauses_grow_to_five_seconds_and_differ() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Cut off")
        rail.cut()
        with pytest.raises(Unreachable) as gone:
            run.step()
        long = rail.slept[7:-1]
        assert all(2.5 <= pause <= 5 for pause in long)
        assert len(set(long)) == len(long), "not all clients come back at once"
        assert isinstance(gone.value.__cause__, Exception)
        run.disconnect()


def test_an_outage_is_told_each_time_and_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """One line when the server goes, and one when it is back, for all requests."""
    outages: list[Outage] = []
    with fake_checkrail() as rail:
        run = Checkrail(on_offline=outages.append).run("Outage")
        assert caplog.messages == []
        rail.trouble(502, httpx.ConnectError("refused"), *[503] * 7)
        run.step()
        gone, back = caplog.messages
        rail.trouble(503)
        run.check_command("ls").result()
        run.close()
    assert "does not answer (status 502)" in gone
    assert gone.endswith("the agent waits, and tries again for 10 min")
    assert back.endswith(f"answers again, after {sum(rail.slept[:9]):.0f} s")
    assert len(caplog.messages) == 4
    assert {record.levelno for record in caplog.records} == {logging.WARNING}
    assert [each.error for each in outages[:3]] == [
        "status 502",
        "refused",
        "status 503",
    ]
    assert [each.retry_in for each in outages] == rail.slept
    for number, each in enumerate(outages[:9]):
        assert each.seconds == pytest.approx(sum(rail.slept[:number]))


def test_an_outage_without_end_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with fake_checkrail() as rail:
        run = Checkrail(offline="wait").run("Outage")
        rail.trouble(*[503] * 100)
        run.step()
        run.close()
    assert "tries again until it does" in caplog.messages[0]
    assert re.search(r"after \d+ min$", caplog.messages[1])


def test_being_asked_to_slow_down_is_no_outage(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Busy")
        rail.trouble(429, 429)
        run.step()
        run.close()
    assert caplog.messages == []


def test_an_agent_bears_an_outage_of_minutes_everywhere() -> None:
    """A database that is away for minutes ends no agent's program, and doubles nothing."""
    with fake_checkrail() as rail:
        run = Checkrail().run("Long")
        answers: list[Any] = []
        actions: list[Callable[[], object]] = [
            run.step,
            lambda: answers.append(run.judge_call("command", command="ls")),
            lambda: run.claim_call(answers[0].id, answers[0].digest),
            lambda: run.settle_call(answers[0].id, ok=True),
            run.standing,
            run.finish,
        ]
        for act in actions:
            began, asked = rail.clock(), len(rail.requests)
            rail.trouble(*[503] * 110)
            act()
            assert rail.clock() - began > 120
            tries = rail.requests[asked:]
            assert len(tries) == 111
            assert len({each.headers.get("idempotency-key") for each in tries}) == 1
    assert rail.runs[0]["status"] == "completed"
    assert [step["number"] for step in rail.steps] == [1]


def test_an_agents_own_error_is_held_up_for_five_seconds_at_most() -> None:
    for retry_seconds, most in ((60.0, 5.0), (1.0, 1.0)):
        with fake_checkrail() as rail:
            run = Checkrail(retry_seconds=retry_seconds).run("Fails")
            rail.cut()
            with pytest.raises(ZeroDivisionError), run:
                raise ZeroDivisionError
            assert rail.clock() == pytest.approx(most, abs=SHORTEST_PAUSE)


def test_waiting_for_a_person_lasts_as_long_as_was_chosen() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail(offline_seconds=30).run("Chosen")
        review = run.open_review("request", "May I?")
        rail.cut()
        with pytest.raises(Unreachable):
            run.wait(review)
        assert rail.clock() == pytest.approx(30, abs=SHORTEST_PAUSE)
        run.disconnect()


def test_a_server_that_shuts_down_is_not_asked_in_a_circle() -> None:
    """It answers `open` at once."""
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail().run("Circle")
        review = run.open_review("request", "May I?")
        stands = run.standing(review).raw
        rail.trouble(*[httpx.Response(200, json=stands)] * 3)
        slept = len(rail.slept)
        asked = len(rail.requests)
        rail.trouble(*[httpx.ConnectError("gone")] * 1000)
        with pytest.raises(Unreachable):
            run.wait(review)
        assert rail.slept[slept : slept + 3] == [0.2] * 3
        assert [each.body["wait"] for each in rail.requests[asked : asked + 4]] == [
            "25"
        ] * 4
        run.disconnect()


def test_what_is_left_of_a_wait_is_asked_for_in_whole_seconds_and_then_slept() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        run = Checkrail().run("Short")
        review = run.open_review("request", "May I?")
        asked = len(rail.requests)
        with pytest.raises(StillWaiting):
            run.wait(review, timeout=30.5)
        assert [each.body["wait"] for each in rail.requests[asked:]][:2] == ["25", "5"]
        assert rail.clock() == pytest.approx(30.5)
        run.disconnect()


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
