"""Which requests are tried again, and which are not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from checkrail import (
    AsyncCheckrail,
    Checkrail,
    ConfigurationError,
    LimitReached,
    NotFound,
    Outage,
    Problem,
    RateLimited,
    Run,
    StepConflict,
    StepOutOfOrder,
    StillWaiting,
    Unauthenticated,
    Unavailable,
    Unreachable,
)
from checkrail.people import Desk
from checkrail.testing import (
    answer,
    fake_checkrail,
    nobody,
)
from checkrail.testing.rail import Sent
from checkrail.transport.retry import SHORTEST_PAUSE


def build_refusal() -> httpx.ConnectError:
    return httpx.ConnectError("Connection refused")


def keys(sent: list[Sent], ending: str) -> list[str | None]:
    posts = [each for each in sent if each.path.endswith(ending)]
    return [each.headers.get("idempotency-key") for each in posts]


def test_every_kind_of_request_of_an_agent_is_tried_again_as_the_same_request() -> None:
    doors: dict[str, Callable[[Run], object]] = {
        "/steps": lambda run: run.step(tokens=1),
        "/checkpoints": lambda run: run.checkpoint({}),
        "/reviews": lambda run: run.ask("Which?"),
        "/decision": lambda run: run.standing(),
        "/tool-calls": lambda run: run.check_command("ls"),
        "/gate-checks": lambda run: run.gate_check(["code-quality"]),
        "/turns": lambda run: run.turn(),
        "/latest": lambda run: run.latest_checkpoint(),
        "/finish": lambda run: run.finish(),
    }
    for ending, act in doors.items():
        with fake_checkrail(rulings=[answer("x")]) as rail:
            run = Checkrail().run("Bad line")
            rail.trouble(build_refusal(), 503, httpx.ReadError("reset"), 502, 504)
            act(run)
            tries = [each for each in rail.requests if each.path.endswith(ending)]
            assert len(tries) >= 6, ending
            assert len({str(each.body) for each in tries[:6]}) == 1, ending
            assert len(set(keys(tries[:6], ending))) == 1, ending
            numbered = ending == "/steps" or tries[0].method == "GET"
            assert (keys(tries, ending)[0] is None) == numbered, ending
            assert len(rail.slept) == 5
            run.close()


def test_two_requests_never_share_a_key() -> None:
    with fake_checkrail() as rail, Checkrail().run("Keys") as run:
        for _ in range(3):
            with run.check_command("ls"):
                pass
    used = [each.headers.get("idempotency-key") for each in rail.requests]
    posts = [key for key in used if key is not None]
    assert len(posts) == len(set(posts)) == 1 + 3 * 3 + 1


def test_a_persons_ruling_is_sent_once() -> None:
    sent: list[httpx.Request] = []

    def cut_off(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        raise httpx.ReadError("reset", request=request)

    with Desk(
        "http://checkrail.test",
        "crt_x",
        retry_seconds=0.15,
        transport=httpx.MockTransport(cut_off),
    ) as desk:
        with pytest.raises(Unreachable, match="must not happen twice"):
            desk.abort_run("1")
        assert len(sent) == 1
        with pytest.raises(Unreachable):
            desk.run("1")
        assert len(sent) > 2


def test_what_is_wrong_is_not_tried_again() -> None:
    cases: list[tuple[int, str, type[Problem]]] = [
        (401, "unauthenticated", Unauthenticated),
        (404, "not-found", NotFound),
        (409, "step-conflict", StepConflict),
        (409, "step-out-of-order", StepOutOfOrder),
        (500, "internal", Problem),
        (418, "something-new", Problem),
    ]
    for status, slug, kind in cases:
        with fake_checkrail() as rail:
            run = Checkrail().run("Wrong")
            rail.trouble(build_problem(status, slug, expected=9))
            with pytest.raises(kind) as problem:
                run.step()
            assert type(problem.value) is kind
            assert (problem.value.status, problem.value.slug) == (status, slug)
            assert problem.value.errors[0]["message"] == "why"
            assert "a.0: why" in str(problem.value)
            assert rail.slept == []
            assert len(rail.sent("POST", "/steps")) == 1
            # It was refused, and is not kept: reported again, it counts once.
            run.step(tokens=1)
            assert [step["tokens"] for step in rail.steps] == [1]
            run.close()


def test_what_is_wrong_is_said_once() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Wrong")
        answer = build_problem(422, "invalid")
        said = {**answer.json(), "detail": "a.0: why"}
        rail.trouble(httpx.Response(422, json=said))
        with pytest.raises(Problem) as problem:
            run.step()
        assert str(problem.value) == "422 invalid: a.0: why"
        run.close()


def test_only_what_the_detail_says_as_a_sentence_is_left_out() -> None:
    """A word of it is no sentence: `why` was taken for said by `Nobody knows why.`"""
    errors = [
        {"loc": ["a"], "message": "Why. And how."},
        {"loc": [], "message": "why"},
        {"loc": [], "message": "Nobody knows why"},
        {"loc": [], "message": "Ask again."},
    ]
    for detail, left in {
        "Nobody knows why. Ask again.": ["a: Why. And how.", "why"],
        "a: Why. And how.": ["why", "Nobody knows why", "Ask again."],
    }.items():
        body = {
            **build_problem(422, "invalid").json(),
            "detail": detail,
            "errors": errors,
        }
        with fake_checkrail() as rail:
            run = Checkrail().run("Wrong")
            rail.trouble(httpx.Response(422, json=body))
            with pytest.raises(Problem) as problem:
                run.step()
            said = "".join(f"\n- {line}" for line in left)
            assert str(problem.value) == f"422 invalid: {detail}{said}"
            run.close()


def test_a_request_that_arrived_too_slowly_is_sent_again_where_it_may_be() -> None:
    slow = build_problem(408, "request-timeout", "2")
    with fake_checkrail() as rail:
        run = Checkrail(retry_seconds=20).run("Slow line")
        rail.trouble(slow)
        run.step()
        assert 2 <= rail.slept[0] <= 2.2
        assert len(rail.sent("POST", "/steps")) == 2
        call = run.check_command("ls")
        rail.trouble(*[slow] * 10)
        with pytest.raises(Unavailable):
            call.result()
        run.close()  # as after any other outage, the result was kept
        assert rail.runs[0]["status"] == "running"
        (kept,) = (run.calls for run in rail.server.runs.values())
        assert [each.result is not None for each in kept.values()] == [True]

    sent: list[httpx.Request] = []

    def answer_slow(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return build_problem(408, "request-timeout", "2")

    with (
        Desk(
            "http://checkrail.test",
            "crt_x",
            transport=httpx.MockTransport(answer_slow),
        ) as desk,
        pytest.raises(Unavailable),
    ):
        desk.abort_run("1")
    assert len(sent) == 1, "a person's ruling is not repeated"


def build_problem(
    status: int, slug: str, retry_after: str = "", **extra: Any
) -> httpx.Response:
    body = {
        "type": f"/problems/{slug}",
        "title": "No",
        "status": status,
        "detail": "Because.",
        "errors": [{"loc": ["a", 0], "message": "why"}],
        **extra,
    }
    headers = {"Content-Type": "application/problem+json"}
    if retry_after:
        headers["Retry-After"] = retry_after
    return httpx.Response(status, json=body, headers=headers)


def test_retry_after_is_honoured_within_the_patience() -> None:
    with fake_checkrail() as rail:
        run = Checkrail(retry_seconds=20).run("Busy")
        rail.trouble(build_problem(429, "rate-limited", "3"))
        run.step()
        assert 3 <= rail.slept[0] <= 3.5
        rail.trouble(build_problem(409, "idempotency-in-flight"))
        run.step()
        rail.trouble(build_problem(429, "rate-limited", "60"))
        with pytest.raises(RateLimited) as limited:
            run.step()
        assert limited.value.retry_after == 60
        assert isinstance(limited.value, Unreachable)
        rail.trouble(build_problem(503, "unavailable", "Wed, 01 Jan 2200 00:00:00 GMT"))
        with pytest.raises(Unavailable):
            run.step()
        run.close()


def test_a_limit_that_is_used_up_is_told_at_once() -> None:
    """It begins anew at midnight: to wait so long in silence helps nobody."""
    limit = {"scope": "agent_day", "begins_anew": "2026-11-16T00:00:00.000000Z"}
    with fake_checkrail() as rail:
        run = Checkrail(retry_seconds=20).run("Used up")
        rail.trouble(build_problem(429, "limit-reached", "3", limit=limit))
        with pytest.raises(LimitReached) as refused:
            run.step()
        assert refused.value.begins_anew == limit["begins_anew"]
        assert not isinstance(refused.value, Unreachable)
        assert rail.slept == []
        run.close()


def test_patience_ends_and_backs_off_with_jitter() -> None:
    outages: list[Outage] = []
    with fake_checkrail() as rail:
        run = Checkrail(on_offline=outages.append, retry_seconds=20).run("Cut off")
        rail.cut()
        with pytest.raises(Unreachable, match="The network is cut"):
            run.check_command("ls")
        pauses = rail.slept
        assert sum(pauses) == pytest.approx(20, abs=SHORTEST_PAUSE), (
            "the last try is at the limit"
        )
        assert all(
            0.05 * 2**n <= pause <= 0.1 * 2**n for n, pause in enumerate(pauses[:6])
        )
        assert [outage.tries for outage in outages] == list(range(1, len(pauses) + 1))
        run.close()


def test_while_a_person_is_waited_for_an_outage_is_borne() -> None:
    with fake_checkrail(rulings=[nobody(), nobody()]) as rail:
        run = Checkrail().run("Waits")
        review = run.open_review("request", "May I?")
        rail.cut()
        with pytest.raises(Unreachable):
            run.wait(review)
        assert rail.clock() == pytest.approx(600, abs=SHORTEST_PAUSE)
        assert max(rail.slept) <= 2
        with pytest.raises(StillWaiting):
            run.wait(review, timeout=7)
        assert rail.clock() <= 607
        patient = Checkrail(offline="wait", offline_seconds=4000)
        again = rail.clock()
        with pytest.raises(Unreachable):
            patient.resume(run.id)
        assert rail.clock() - again == pytest.approx(4000, abs=SHORTEST_PAUSE)
        run.close()


def test_an_ordinary_request_is_tried_for_ten_minutes_by_default() -> None:
    with fake_checkrail() as rail:
        run = Checkrail().run("Cut off")
        rail.cut()
        with pytest.raises(Unreachable, match="tried for 600 s"):
            run.step()
        assert rail.clock() == pytest.approx(600, abs=SHORTEST_PAUSE)
        rail.mend()
        run.close()
    assert [step["number"] for step in rail.steps] == [1]


async def test_a_cancelled_step_is_not_lost() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:
        async with AsyncCheckrail().run("Cancelled") as run:
            review = await run.open_review("request", "May I?")
            work = asyncio.ensure_future(run.step(tokens=5))
            for _ in range(50):
                await asyncio.sleep(0)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
            await run.withdraw(review)
            await run.step(tokens=6)
        assert [step["tokens"] for step in rail.steps] == [5, 6]


def test_the_set_up_is_checked_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("CHECKRAIL_URL", "CHECKRAIL_KEY", "CHECKRAIL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    wrong: list[tuple[str | None, str | None, str]] = [
        (None, "crk_x", "CHECKRAIL_URL"),
        ("localhost:8000", "crk_x", "no http"),
        ("http://[half", "crk_x", "no http"),
        ("https://", "crk_x", "no http"),
        ("http://localhost", None, "CHECKRAIL_KEY"),
        ("http://localhost", "crk_ÿ", "characters"),
    ]
    for url, key, words in wrong:
        with pytest.raises(ConfigurationError, match=words):
            Checkrail(url, key)
    with pytest.raises(ConfigurationError, match="raise"):
        Checkrail("http://localhost", "crk_x", offline="hope")  # type: ignore[arg-type]
    monkeypatch.setenv("CHECKRAIL_URL", "http://localhost:8000/")
    monkeypatch.setenv("CHECKRAIL_KEY", "crk_secret")
    rail = Checkrail()
    assert rail.connection.base == "http://localhost:8000/api/v1"
    assert "crk_secret" not in repr(rail.connection)
