"""Nothing doubtful is a yes: only a whole answer lets an agent go on."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from checkrail import (
    Checkrail,
    Expired,
    ProtocolError,
    RunPaused,
    StillWaiting,
    Superseded,
    Unreachable,
)
from checkrail.testing import (
    approve,
    expire,
    fake_checkrail,
    nobody,
)
from checkrail.testing.rail import FakeRail


def test_what_is_not_the_contracts_answer_is_never_a_yes() -> None:
    strange: list[dict[str, Any] | httpx.Response] = [
        {"decision": "proceed"},
        {"decision": None},
        {"decision": ["continue"]},
        {"decision": "continue", "findings": None},
        {"decision": "pause", "review": None},
        {"decision": "continue", "step": 7},
        httpx.Response(200, html="<html>Sign in</html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"decision": "continue"}),
        httpx.Response(302, headers={"Location": "https://sso.test"}),
    ]
    for odd in strange:
        scripted = [odd] if isinstance(odd, dict) else []
        with fake_checkrail(decisions=scripted) as rail:
            run = Checkrail().run("Odd")
            if isinstance(odd, httpx.Response):
                rail.trouble(odd)
            if scripted and "review" in scripted[0]:
                scripted_pause(rail)
            with pytest.raises(ProtocolError):
                run.step()
            run.close()


def scripted_pause(rail: FakeRail) -> None:
    """A pause that names no review: the real one is hidden from the answer."""
    rail.server.decisions.clear()
    rail.trouble(httpx.Response(201, json=without_review()))


def without_review() -> dict[str, Any]:
    with fake_checkrail(decisions=["pause"], rulings=[nobody()]):
        run = Checkrail().run("Whole")
        decision = run.report_step()
        run.close()
    return {**decision.raw, "review": None}


@pytest.mark.parametrize(
    "odd",
    [
        {"decision": "permit"},
        {"decision": "allow", "grant": None},
        {"decision": "require-confirmation", "review": None},
        {"decision": "allow", "digest": 7},
    ],
    ids=str,
)
def test_a_call_is_only_allowed_by_a_whole_answer(odd: dict[str, Any]) -> None:
    with fake_checkrail(calls=[odd], rulings=[approve()]) as rail:
        run = Checkrail().run("Odd")
        with pytest.raises(ProtocolError):
            run.check_command("rm -rf build")
        assert rail.sent("POST", "/claim") == []
        run.close()


def test_an_unknown_ruling_or_state_is_no_approval() -> None:
    with fake_checkrail(rulings=[approve()]) as rail:
        run = Checkrail().run("Odd")
        review = run.open_review("request", "May I?")
        whole = run.standing(review).raw
        for change in (
            {"state": "accepted"},
            {"ruling": None},
            {"ruling": {**whole["ruling"], "action": "maybe"}},
            {"review": {**whole["review"], "id": "another"}},
            {"state": "none", "review": None},
        ):
            rail.trouble(httpx.Response(200, json={**whole, **change}))
            with pytest.raises(ProtocolError):
                run.wait(review)
        rail.trouble(httpx.Response(200, json={**whole, "state": "superseded"}))
        with pytest.raises(Superseded):
            run.wait(review)
        # A newer server may say more: that is no trouble, and it is kept.
        rail.trouble(httpx.Response(200, json={**whole, "mood": "good"}))
        assert run.standing(review).raw["mood"] == "good"
        run.close()


def test_nobody_rules_in_time() -> None:
    with fake_checkrail(rulings=[nobody(), expire(after=90)]) as rail:
        run = Checkrail().run("Waits")
        with pytest.raises(StillWaiting) as waiting:
            run.ask("Which branch?", timeout=60)
        assert 60 <= rail.clock() < 61
        assert rail.runs[0]["status"] == "paused"
        with pytest.raises(RunPaused):
            run.report_step(tokens=1)
        run.withdraw(waiting.value.review)
        assert run.step(tokens=2).step == 1
        with pytest.raises(Expired), run:
            run.request_approval("May I?")
        assert rail.runs[0]["status"] == "aborted"


def test_a_run_that_may_be_taken_up_again_is_not_ended() -> None:
    with fake_checkrail(rulings=[nobody()]) as rail:

        def cut_off() -> None:
            rail.cut()
            try:
                run.step()
            finally:
                rail.mend()

        with pytest.raises(Unreachable), Checkrail().run("Cut off") as run:
            cut_off()
        with pytest.raises(StillWaiting), Checkrail().run("Asks") as run:
            run.ask("Which?", timeout=1)
        assert rail.sent("POST", "/finish") == []
        assert [state["status"] for state in rail.runs] == ["running", "paused"]
