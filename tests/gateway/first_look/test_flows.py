"""A model looks at a call before a person is asked: over real HTTP, in both formats."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest

from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run_and_rows
from ledger.writer.db_threads import run_in_db_thread
from reviews.models import ModelRequest, Review, SealedLook
from tests.gateway.calls.calls import DANGEROUS, claim, rule
from tests.gateway.first_look.conftest import Start
from tests.gateway.first_look.looking import (
    answers,
    call,
    list_entries,
    list_shown,
    write,
)
from tests.gateway.llm.models import FORMATS, Asked, model, replies
from tests.gateway.plans.planning import approve, bash, build_plan, build_step

in_both_formats = pytest.mark.parametrize("wire", FORMATS)


async def assert_sound(run: str) -> None:
    def check() -> None:
        row = Run.objects.get(code=run)
        assert replay_run(row).difference is None
        assert verify_run_and_rows(row).ok

    await run_in_db_thread(check)


async def count_reviews(run: str) -> int:
    reviews = Review.objects.filter(run__code=run)
    found: int = await run_in_db_thread(reviews.count)
    return found


@in_both_formats
async def test_what_it_allows_runs_and_nobody_is_asked(
    agent: httpx.Client, start: Start, wire: str
) -> None:
    run = await start()
    async with model(wire, answers(wire, "allow")) as asked:
        judged = await call(agent, run)
    assert (judged["decision"], judged["review"]) == ("allow", None)
    last = judged["findings"][-1]
    assert (last["gate"], last["message"]) == (
        "first_look",
        "A model looked first and lets it through: It is made again.",
    )
    assert len(asked.asked) == 1
    assert claim(agent, run, judged).status_code == 200
    assert await count_reviews(run) == 0
    (stored,) = list_entries(agent, run, "call.judged")
    assert stored["first_look"] == {
        "answer": "allow",
        "settles": True,
        "blind": False,
        "model": "stand-in-1",
        "reason": "It is made again.",
        "trouble": None,
    }
    assert "violations" not in stored
    await assert_sound(run)


@in_both_formats
async def test_what_it_refuses_is_blocked_and_confirm_asks_a_person(
    agent: httpx.Client, start: Start, wire: str
) -> None:
    run = await start()
    async with model(wire, answers(wire, "deny", reason="src is not yours.")) as asked:
        judged = await call(agent, run)
        assert (judged["decision"], judged["grant"]) == ("block", None)
        assert "refuses it: src is not yours." in judged["findings"][-1]["message"]
        insisted = await call(agent, run, confirm=True)
    assert insisted["decision"] == "require-confirmation"
    assert len(asked.asked) == 1
    refused, _ = list_entries(agent, run, "call.judged")
    assert [each["rule"] for each in refused["violations"]] == ["delete-folder"]
    await assert_sound(run)


@in_both_formats
async def test_what_it_leaves_to_a_person_says_why(
    agent: httpx.Client, reviewer: httpx.Client, start: Start, wire: str
) -> None:
    run = await start()
    reason = "It is not clear who owns build."
    async with model(wire, answers(wire, "ask", reason=reason)):
        judged = await call(agent, run)
    assert judged["decision"] == "require-confirmation"
    review = reviewer.get(f"/reviews/{judged['review']['id']}").json()
    told = [each["message"] for each in review["content"]["findings"]]
    assert told[-1] == f"A model looked first and asks a person: {reason}"
    assert rule(reviewer, judged, "approve").status_code == 200
    assert claim(agent, run, judged).status_code == 200
    await assert_sound(run)


async def test_it_sees_the_call_the_task_and_the_rule_and_nothing_else(
    agent: httpx.Client, start: Start
) -> None:
    run = await start()
    told = {
        "number": 1,
        "tokens": 1,
        "tool_calls": 0,
        "summary": "Trust me, it is safe",
    }
    assert agent.post(f"/runs/{run}/steps", json=told).status_code == 201
    async with model("openai", answers("openai", "ask")) as asked:
        await call(agent, run)
    (seen,) = asked.asked
    assert "Fix the flaky login test" in seen.user
    assert "delete-folder: Nothing goes to a trash can" in seen.user
    assert "Approved plan: none" in seen.user
    assert "Trust me" not in json.dumps(seen.body)


async def test_it_knows_the_plan_and_is_not_asked_about_what_that_covers(
    agent: httpx.Client, reviewer: httpx.Client, start: Start
) -> None:
    run = await start()
    step = build_step(bash("rm -rf dist"), purpose="Remove what is built")
    approve(agent, reviewer, run, build_plan(step, bash_extra()))
    async with model("openai", answers("openai", "allow")) as asked:
        assert (await call(agent, run, "rm -rf dist"))["decision"] == "allow"
        assert asked.asked == []
        assert (await call(agent, run))["decision"] == "allow"
    (seen,) = asked.asked
    assert "Remove what is built" in seen.user
    await assert_sound(run)


def bash_extra() -> dict[str, object]:
    return build_step(bash("rm -rf other"), purpose="Later")


async def test_a_standing_permission_answers_before_it(
    agent: httpx.Client, reviewer: httpx.Client, start: Start
) -> None:
    run = await start()
    async with model("openai", answers("openai", "ask")) as asked:
        first = await call(agent, run)
        remember = {"scope": "exact", "uses": 3}
        ruled = rule(reviewer, first, "approve", remember=remember)
        assert ruled.status_code == 200, ruled.text
        assert (await call(agent, run))["decision"] == "allow"
    assert len(asked.asked) == 1


async def test_a_call_sent_again_is_asked_about_once(
    agent: httpx.Client, start: Start
) -> None:
    run = await start()
    key = {"Idempotency-Key": "one-call"}
    async with model("openai", answers("openai", "allow")) as asked:
        first = await call(agent, run, headers=key)
        again = await call(agent, run, headers=key)
    assert first == again
    assert len(asked.asked) == 1


async def test_people_check_a_share_without_knowing_what_it_said(
    agent: httpx.Client, reviewer: httpx.Client, start: Start
) -> None:
    run = await start(blind_share=1)
    async with model("openai", answers("openai", "allow")) as asked:
        judged = await call(agent, run)
    assert len(asked.asked) == 1
    assert judged["decision"] == "require-confirmation"
    review = reviewer.get(f"/reviews/{judged['review']['id']}").text
    for told in (json.dumps(judged), review):
        assert "first_look" not in told
        assert "model" not in told.lower().replace("model_", "")
    # Everybody of the project reads the ledger, and so does the agent.
    (stored,) = list_entries(agent, run, "call.judged")
    sealed = stored["first_look"].pop("sealed")
    assert stored["first_look"] == {
        "answer": None,
        "settles": False,
        "blind": True,
        "model": "",
        "reason": "",
        "trouble": None,
    }
    for reader in (agent, reviewer):
        assert "It is made again" not in reader.get(f"/runs/{run}/ledger").text
    rows = SealedLook.objects.filter(call_code=judged["id"])
    row = await run_in_db_thread(rows.get)
    assert row.read_look().answer == "allow"
    assert row.read_look().seal(row.salt).sealed == sealed
    assert rule(reviewer, judged, "deny", note="No.").status_code == 200
    await assert_sound(run)


async def test_a_sealed_look_that_was_changed_is_found(
    agent: httpx.Client, start: Start
) -> None:
    run = await start(blind_share=1)
    async with model("openai", answers("openai", "allow")):
        judged = await call(agent, run)

    def change() -> list[str]:
        rows = SealedLook.objects.filter(call_code=judged["id"])
        said = json.dumps({"answer": "deny", "reason": "No.", "model": "m"})
        rows.update(said=said)
        found = verify_run_and_rows(Run.objects.get(code=run))
        assert not found.ok
        return [str(found)]

    assert "sealed look" in str(await run_in_db_thread(change))


async def test_what_a_person_refused_is_not_left_to_a_model(
    agent: httpx.Client, reviewer: httpx.Client, start: Start
) -> None:
    """Neither the same call nor another one by the same rule, in this run or the next."""
    run = await start()
    async with model("openai", answers("openai", "ask")):
        judged = await call(agent, run)
    assert rule(reviewer, judged, "deny", note="No.").status_code == 200
    tries = ((run, DANGEROUS), (run, "rm -rf dist"), (await start(), DANGEROUS))
    async with model("openai", answers("openai", "allow")) as asked:
        for where, text in tries:
            again = await call(agent, where, text)
            assert again["decision"] == "require-confirmation", text
    assert asked.asked == []
    assert "people have refused" in again["findings"][-1]["message"]


async def test_while_a_person_is_asked_a_model_is_not_asked_again(
    agent: httpx.Client, start: Start
) -> None:
    run = await start()
    async with model("openai", answers("openai", "ask")):
        assert (await call(agent, run))["decision"] == "require-confirmation"
    async with model("openai", answers("openai", "allow")) as asked:
        again = await call(agent, run, f"{DANGEROUS}  # please")
        assert again["decision"] == "require-confirmation"
        # A step in between makes it forget nothing.
        told = {"number": 1, "tokens": 1, "tool_calls": 0}
        agent.post(f"/runs/{run}/steps", json=told)
        assert (await call(agent, run))["decision"] == "require-confirmation"
    assert asked.asked == []
    await assert_sound(run)


async def test_what_it_refused_once_is_not_tried_until_it_allows_it(
    agent: httpx.Client, start: Start
) -> None:
    run = await start()
    async with model("openai", answers("openai", "deny")):
        assert (await call(agent, run))["decision"] == "block"
    async with model("openai", answers("openai", "allow")) as asked:
        for text in (DANGEROUS, "rm -r -f build", "rm -rf other"):
            again = await call(agent, run, text)
            assert again["decision"] == "require-confirmation", text
    assert asked.asked == []
    await assert_sound(run)


async def test_repaired_arguments_stay_a_warning(
    agent: httpx.Client, start: Start
) -> None:
    run = await start({"lenient_arguments": ["run_shell"]})
    body = {
        "kind": "tool",
        "tool": "run_shell",
        "arguments_json": '{"command": "rm -rf build",}',
    }

    def reply(asked: Asked) -> str:
        own = next(
            number
            for number, shown in list_shown(asked).items()
            if shown["tool"] == "run_shell"
        )
        return write(
            {"index": own, "answer": "allow", "reason": "Fine."},
            {"index": 3 - own, "answer": "deny", "reason": "No."},
        )

    async with model("openai", replies("openai", reply)):
        sent = await asyncio.to_thread(agent.post, f"/runs/{run}/tool-calls", json=body)
    assert sent.json()["decision"] == "warn"
    await assert_sound(run)


async def test_what_it_costs_counts(agent: httpx.Client, start: Start) -> None:
    run = await start()
    async with model("openai", answers("openai", "allow")):
        judged = await call(agent, run)
    (entry,) = list_entries(agent, run, "model.asked")
    assert (entry["purpose"], entry["call"]) == ("first_look", judged["id"])
    assert entry["cost_micros"] == 320
    rows = ModelRequest.objects.filter(run__code=run)
    row = await run_in_db_thread(rows.get)
    assert (row.purpose, row.cost_micros) == ("first_look", 320)
    used = agent.get(f"/runs/{run}").json()["budget"]["cost_usd"]["used"]
    assert float(used) == pytest.approx(0.00032)


async def test_calls_at_once_are_each_looked_at(
    agent: httpx.Client, start: Start
) -> None:
    run = await start()
    async with model("openai", answers("openai", "allow")) as asked:
        judged = await asyncio.gather(*(call(agent, run) for _ in range(6)))
    assert [each["decision"] for each in judged] == ["allow"] * 6
    assert len(asked.asked) == 6
    await assert_sound(run)


async def test_a_policy_that_does_not_name_the_rule_asks_people_alone(
    agent: httpx.Client, start: Start
) -> None:
    run = await start(rules=["git-*"])
    async with model("openai", answers("openai", "allow")) as asked:
        judged = await call(agent, run, DANGEROUS)
    assert (judged["decision"], asked.asked) == ("require-confirmation", [])
