"""`run.step` does what each decision says, on a real server."""

from __future__ import annotations

import pytest
from checkrail import (
    Aborted,
    AsyncCheckrail,
    Checkrail,
    Invalid,
    ReviewRef,
    RunClosed,
    StillWaiting,
    Stopped,
)
from checkrail.people import Desk
from checkrail.testing import fake_checkrail

from accounts.models import Project
from tests.client.acting import abort, approve, somebody
from tests.support.builders import make_policy
from tests.support.threads import Threads


def test_a_run_goes_from_its_start_to_its_end(rail: Checkrail, desk: Desk) -> None:
    with rail.run(
        "Fix the flaky login test",
        intent="bug-fix",
        model="some-model",
        budget={"tokens": 5_000, "cost_usd": 2.5},
        labels={"repo": "shop"},
    ) as run:
        decision = run.step(
            tokens=1830, tool_calls=2, cost_usd=0.0121, summary="Found the race"
        )
        assert (decision.decision, decision.step, run.last_step) == ("continue", 1, 1)
        assert decision.metrics.budget_remaining.cost_usd == "2.4879"
        assert decision.metrics.budget_remaining.tokens == 3_170
        with pytest.raises(Invalid, match="tokens"):
            run.step(tokens=-1)
        assert run.step(tokens=5).step == 2
        state = run.finish(
            summary="The race is fixed", tests={"ran": True, "passed": 214}
        )
    assert state.status == "completed"
    assert {evaluation.name for evaluation in state.evaluations}
    seen = desk.run(run.id)
    assert (seen.status, seen.labels, seen.steps) == ("completed", {"repo": "shop"}, 2)


def test_leaving_the_block_ends_the_run(rail: Checkrail) -> None:
    with rail.run("Goes well") as well:
        pass
    assert well.state.status == "completed"
    with pytest.raises(ZeroDivisionError), rail.run("Goes wrong") as wrong:
        _ = 1 / 0
    assert wrong.refresh().status == "failed"
    with rail.run("Is left to another process") as left:
        left.close()
    assert left.refresh().status == "running"


def test_a_throttle_is_slept(
    rail: Checkrail, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(rail.driver, "_sleep", slept.append)
    make_policy("throttling", project=project, **{"continue": {"throttle_base_ms": 7}})
    with rail.run("Costs more and more", policy="throttling") as run:
        decisions = [run.step(tokens=1000 * 2**n) for n in range(7)]
    last = decisions[-1]
    assert last.decision == "throttle"
    assert slept[-1] == last.delay_ms / 1000 > 0


def test_a_checkpoint_is_saved_with_the_state_that_is_returned(
    rail: Checkrail, project: Project
) -> None:
    make_policy(
        "saving", project=project, **{"continue": {"checkpoint_interval_steps": 2}}
    )
    with rail.run(
        "Long", policy="saving", on_checkpoint=lambda decision: {"at": decision.step}
    ) as run:
        assert run.latest_checkpoint() is None
        assert [run.step().decision for _ in range(3)] == [
            *("continue", "checkpoint", "continue")
        ]
        saved = run.latest_checkpoint()
        assert saved is not None
        assert (saved.step, saved.state) == (2, {"at": 2})
        own = run.checkpoint({"branch": "inv-v2"}, label="before migration")
        assert (own.step, own.label) == (3, "before migration")


def test_a_stop_ends_the_agent_and_leaves_the_run(rail: Checkrail) -> None:
    with (
        pytest.raises(Stopped, match="oherence") as stopped,
        rail.run("Confused") as run,
    ):
        run.step(coherence=0.1)
    assert stopped.value.decision is not None
    assert stopped.value.decision.decision == "stop"
    assert run.refresh().status == "stopped"
    with pytest.raises(RunClosed) as closed:
        run.step()
    assert isinstance(closed.value, Stopped)
    assert closed.value.run_status == "stopped"


def test_a_pause_is_waited_for_and_approved_meanwhile(
    rail: Checkrail, desk: Desk
) -> None:
    told: list[ReviewRef] = []
    with rail.run("Unsure", on_wait=told.append) as run:
        with somebody(desk, run.id, approve) as seen:
            decision = run.step(uncertainty=0.95)
        assert decision.decision == "pause"
        assert run.step().decision == "continue"
    assert [ref.id for ref in told] == [seen[0].id]
    assert told[0].url == seen[0].url


def test_an_abort_ends_the_agent(rail: Checkrail, desk: Desk) -> None:
    with (
        pytest.raises(Aborted, match="Enough") as aborted,
        rail.run("Unsure") as run,
        somebody(desk, run.id, abort) as seen,
    ):
        run.step(uncertainty=0.95)
    assert desk.review(seen[0].id).ruling == aborted.value.ruling
    assert run.refresh().status == "aborted"


def test_waiting_can_be_left_and_taken_up_by_another_process(
    rail: Checkrail, desk: Desk
) -> None:
    with pytest.raises(StillWaiting) as waiting, rail.run("Unsure") as run:
        run.step(uncertainty=0.95, timeout=0.05)
    assert isinstance(waiting.value, TimeoutError)
    again = Checkrail(rail.connection.base, rail.connection.secret).resume(run.id)
    assert again.state.status == "paused"
    assert [ref.id for ref in again.state.open_reviews] == [waiting.value.review.id]
    with again:
        desk.approve(waiting.value.review.id)
        assert again.wait(waiting.value.review).action == "approve"
        assert again.step().step == 2
    assert again.state.status == "completed"


def test_a_step_that_meets_a_paused_run_waits_and_is_then_reported(
    rail: Checkrail, desk: Desk
) -> None:
    with rail.run("Asks, and goes on reporting") as run:
        review = run.open_review("request", "May I?")
        with pytest.raises(StillWaiting):
            run.step(tokens=1, timeout=0.05)
        with somebody(desk, run.id, approve) as seen:
            decision = run.step(tokens=2)
        assert seen[0].id == review.id
        # The one that could not be told before came first: nothing is lost.
        assert decision.step == 2
        assert run.refresh().budget.tokens.used == 3


def test_a_run_whose_end_was_heard_is_left_as_it_is(
    rail: Checkrail, desk: Desk
) -> None:
    """Whoever catches Stopped inside of the block leaves it in peace."""
    with rail.run("Is aborted") as run:
        desk.abort_run(run.id)
        with pytest.raises(RunClosed):
            run.check_command("ls")
    assert run.refresh().status == "aborted"
    with (
        rail.run("Is unsure") as run,
        somebody(desk, run.id, abort),
        pytest.raises(Aborted),
    ):
        run.step(uncertainty=0.95)
    assert run.refresh().status == "aborted"


def test_several_threads_may_share_a_run(rail: Checkrail, desk: Desk) -> None:
    with rail.run("Crowded") as run, Threads(4) as pool:

        def work(number: int) -> int:
            with run.check_tool("Read", {"path": str(number)}):
                return run.step(summary=str(number)).step

        numbers = sorted(pool.map(work, range(8)))
    assert numbers == list(range(1, 9))
    assert desk.run(run.id).budget.tool_calls.used == 8


DUE = {"decision": "checkpoint", "checkpoint_due": True}
NO_STATE = "automatic, without a state"


def test_a_client_without_on_checkpoint_saves_one_itself() -> None:
    with fake_checkrail(decisions=["continue", DUE, DUE]) as rail:
        with Checkrail().run("Long") as run:
            run.step()
            assert run.latest_checkpoint() is None
            run.step()
            run.step()
        saved = rail.sent("POST", "/checkpoints")
    assert saved == [{"step": step, "state": {}, "label": NO_STATE} for step in (2, 3)]


def test_the_state_that_was_kept_last_is_kept_on() -> None:
    """Also where another process kept it: a crash must not find it gone."""
    kept = {"branch": "login-fix"}
    with fake_checkrail(decisions=["continue", DUE, DUE, DUE]) as rail:
        run = Checkrail().run("Long")
        run.step()
        run.checkpoint(kept, label="before migration")
        run.step()
        run.step()
        run.close()
        run = Checkrail().resume(run.id)
        run.step()
        latest = run.latest_checkpoint()
        run.finish()
        _, *automatic = rail.sent("POST", "/checkpoints")
    label = "automatic, with the state of step 1"
    assert automatic == [
        {"step": step, "state": kept, "label": label} for step in (2, 3, 4)
    ]
    assert latest is not None
    assert (latest.step, latest.state) == (4, kept)


async def test_the_same_on_an_event_loop_and_in_batches() -> None:
    with fake_checkrail(decisions=[DUE] * 3) as rail:
        async with AsyncCheckrail().run("Long") as run:
            await run.step()
        with Checkrail().run("Many", batch_steps=2) as batched:
            batched.step()
            batched.step()
        saved = rail.sent("POST", "/checkpoints")
    assert [(each["step"], each["label"]) for each in saved] == [
        (1, NO_STATE),
        (2, NO_STATE),
    ]


def test_a_default_client_goes_on_past_the_step_limit(rail: Checkrail) -> None:
    """On a real server, which stops a run that goes on without checkpoints."""
    with rail.run("Long") as run:
        for _ in range(101):
            assert run.step(tokens=1).decision != "stop"
        latest = run.latest_checkpoint()
    assert run.state.status == "completed"
    assert latest is not None
    assert latest.label == NO_STATE
