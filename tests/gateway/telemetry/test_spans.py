"""Spans that come twice, late, in disorder, from inside other agents, or wrong."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest
from django.test import Client as Browser

from accounts.models import Project
from gateway.telemetry.meaning import Trace
from gateway.telemetry.spans import Span
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from tests.config.fastpath.streams import ledger
from tests.docs.markdown import blocks, read_page
from tests.gateway.telemetry.spans import PATH, chat, new_trace, runs, send, span
from tests.guidance.core.secrets.samples import body as drawn
from tests.support.builders import Person, make_policy, step
from tests.support.problems import problem
from tests.support.threads import at_once

pytestmark = pytest.mark.once("builds spans from entries, not SQL")


def types(client: httpx.Client, run: dict[str, Any]) -> list[str]:
    return [entry["type"] for entry in ledger(client, run["id"])]


def whole(run: dict[str, Any]) -> bool:
    row = Run.objects.get(code=run["id"])
    return verify_run(row).ok and replay_run(row).difference is None


def test_the_same_spans_again_are_the_same_steps(agent: httpx.Client) -> None:
    trace = new_trace()
    spans = [chat(trace, 10, parent="e" * 16) for _ in range(4)]
    root = span(trace, "invoke_agent", span_id="e" * 16, agent__name="Shop")

    assert send(agent, *spans[:2]) == {}
    # Sent again with more, twice in one request, and by several senders at once.
    at_once(*[lambda: send(agent, *spans[:3], spans[0])] * 4)
    assert send(agent, *spans, root) == send(agent, *spans, root) == {}

    (run,) = runs(agent)
    assert run["steps"] == 4
    assert run["budget"]["tokens"]["used"] == 40
    assert types(agent, run) == [
        *("run.started", *["step.observed"] * 4, "run.finished")
    ]
    assert whole(run)


def test_late_spans_join_a_run_that_is_over(agent: httpx.Client) -> None:
    trace = new_trace()
    root = span(trace, "invoke_agent", failed=True, usage__output_tokens=7)
    send(agent, root)
    late = [chat(trace, 1, parent=root["spanId"]) for _ in range(2)]
    send(agent, late[1])
    send(agent, late[0])

    (run,) = runs(agent)
    # Where the parts say nothing, the whole is a step.
    assert types(agent, run) == [
        *("run.started", "step.observed", "run.finished"),
        *("step.observed", "step.observed"),
    ]
    assert run["status"] == "failed"
    assert run["status_reason"] == "invoke_agent, failed: error"
    assert run["budget"]["tokens"]["used"] == 9
    assert whole(run)


def test_only_the_outermost_agent_ends_the_run(agent: httpx.Client) -> None:
    trace = new_trace()
    http, outer, tool, inner = (digit * 16 for digit in "abcd")
    send(agent, chat(trace, parent=inner))
    send(agent, span(trace, "invoke_agent", span_id=inner, parent=tool, failed=True))
    send(agent, span(trace, "execute_tool", span_id=tool, parent=outer))
    assert runs(agent)[0]["status"] == "running"
    send(agent, span(trace, "invoke_agent", span_id=outer, parent=http))
    assert runs(agent)[0]["status"] == "running"  # what stands above has not ended yet
    send(agent, span(trace, span_id=http))
    send(agent, span(trace, span_id=http))

    (run,) = runs(agent)
    assert run["status"] == "completed"
    assert types(agent, run) == [
        *("run.started", "step.observed", "agent.observed", "step.observed"),
        *("agent.observed", "run.finished"),
    ]
    assert whole(run)


@pytest.mark.parametrize("above", ["in the same request", "in another program"])
def test_a_server_above_the_agent_does_not_hide_its_end(
    agent: httpx.Client, above: str
) -> None:
    trace = new_trace()
    if above == "in another program":
        root = span(trace, "invoke_agent", parent="f" * 16) | {"flags": 0x301}
        send(agent, root)
    else:
        route = span(trace)
        send(agent, span(trace, "invoke_agent", parent=route["spanId"]), route)

    (run,) = runs(agent)
    assert run["status"] == "completed"


def test_a_conversation_goes_on_in_one_run_or_in_the_next(agent: httpx.Client) -> None:
    talk: dict[str, Any] = {"conversation__id": "talk"}
    first, second, third = new_trace(), new_trace(), new_trace()
    send(agent, chat(first, **talk))
    send(agent, chat(second, **talk), chat(new_trace()))  # another one's between them
    send(agent, span(second, "invoke_agent"))  # does not say which conversation
    send(agent, chat(third, **talk))
    send(agent, chat(first))

    talked, other, again = runs(agent)
    assert (talked["steps"], talked["status"]) == (3, "completed")
    assert (other["steps"], other["status"]) == (1, "running")
    assert (again["steps"], again["status"]) == (1, "running")
    started = ledger(agent, again["id"])[0]["payload"]
    assert started["parent"] == talked["id"]
    assert all(whole(run) for run in (talked, again))


def test_spans_that_cannot_be_taken_are_counted_and_named(agent: httpx.Client) -> None:
    trace = new_trace()
    good = chat(trace)
    bad = [
        {**chat(trace), "traceId": "0" * 32},
        {**chat(trace), "spanId": "abc"},
        {**chat(trace), "traceId": "zz" * 16},
        {**chat(trace), "parentSpanId": 7},
        {**chat(trace), "startTimeUnixNano": "soon"},
        chat(trace, -1),
        chat(trace, 10**18),
        span(trace, "chat", usage__input_tokens="12"),
    ]

    told = send(agent, good, *bad, span(trace), span(trace, "dance"))

    assert told["partialSuccess"]["rejectedSpans"] == str(len(bad))
    assert "negative" in told["partialSuccess"]["errorMessage"]
    (run,) = runs(agent)
    assert run["steps"] == 1
    refused = send(agent, chat(new_trace()), **{"checkrail.policy": "nowhere"})
    assert refused["partialSuccess"]["rejectedSpans"] == "1"
    assert "This run may name: default." in refused["partialSuccess"]["errorMessage"]


def test_an_observed_run_takes_no_orders(
    agent: httpx.Client, reviewer: httpx.Client
) -> None:
    send(agent, chat(new_trace()))
    (run,) = runs(agent)
    path = f"/runs/{run['id']}"
    call = {"kind": "command", "command": "ls"}
    asked = {"kind": "question", "title": "?"}

    for door, body in (
        ("steps", step(2)),
        ("steps/batch", {"steps": [step(2)]}),
        ("tool-calls", call),
        ("reviews", asked),
        ("checkpoints", {"step": 1}),
        ("turns", {}),
        ("gate-checks", {"step": 0, "gates": ["code-quality"]}),
        ("finish", {"outcome": "completed"}),
    ):
        told = problem(agent.post(f"{path}/{door}", json=body), "forbidden")
        assert "only observed" in told["detail"], door
    problem(reviewer.post(f"{path}/abort", json={}), "forbidden")
    problem(reviewer.post(f"{path}/notes", json={"text": "Look"}), "forbidden")
    assert types(agent, run) == ["run.started", "step.observed"]
    forged = {"task": "t", "labels": {"source": "opentelemetry"}}
    problem(agent.post("/runs", json=forged), "invalid")


def test_secrets_in_spans_are_not_kept(agent: httpx.Client) -> None:
    token = "gh" + "p_" + drawn(36)
    trace = new_trace()
    send(
        agent,
        span(
            trace,
            "execute_tool",
            tool__name=f"push {token}",
            tool__call__arguments=f'{{"token": "{token}"}}',
            agent__name=f"Agent {token}",
            conversation__id=token,
            request__model="m\0\ud800",
        ),
        span(trace, "invoke_agent", failed=True) | {"name": token},
        service=f"shop {token}",
    )

    (run,) = runs(agent)
    kept = agent.get(f"/runs/{run['id']}/ledger").text
    assert token not in kept
    assert token not in str(run)
    assert run["model"] == "m\ufffd?"
    assert whole(run)


def test_people_see_that_it_was_only_observed(
    agent: httpx.Client, alice: Person, project: Project
) -> None:
    make_policy("tight", project=project, budget={"tokens": 10})
    send(agent, chat(new_trace(), 50), **{"checkrail.policy": "tight"})
    (run,) = runs(agent)
    browser = Browser()
    browser.force_login(alice.user)

    listed = browser.get(f"/p/{project.slug}/runs/").content.decode()
    page = browser.get(f"/p/{project.slug}/runs/{run['id']}/").content.decode()

    assert "observed, not gated" in listed
    assert "observed, not gated" in page
    assert "Would stop" in page
    assert 'data-dialog="abort"' not in page


def test_the_example_of_the_page_is_taken(agent: httpx.Client) -> None:
    (example,) = blocks(read_page("docs/telemetry.md"), language="json")

    told = agent.post(PATH, json=json.loads(example))

    assert (told.status_code, told.json()) == (200, {})
    (run,) = runs(agent)
    assert run["budget"]["tokens"]["used"] == 924
    assert run["budget"]["time_ms"]["used"] == 1_200


def test_many_spans_under_a_long_line_are_read_at_once() -> None:
    """A walk for each of them would cost a small request half a minute."""
    line = [_plain(at, above=at - 1) for at in range(1, 4_001)]
    below = [_plain(at, above=4_000) for at in range(4_001, 8_001)]
    circle = [_plain(9_001, above=9_002), _plain(9_002, above=9_001)]
    trace = Trace("a" * 32, [*line, *below, *circle])
    began = time.thread_time()  # the processor's: a busy machine changes nothing
    assert {trace.find_above(each) for each in below} == {""}
    assert time.thread_time() - began < 1
    assert {trace.find_above(each) for each in circle} == {""}
    assert trace.find_above(_plain(9_003, above=9_999)) == f"{9_999:016x}"


def _plain(number: int, *, above: int) -> Span:
    return Span(
        trace_id="a" * 32,
        span_id=f"{number:016x}",
        parent_id=f"{above:016x}" if above else "",
        parent_is_remote=False,
        name="",
        started_ns=0,
        ended_ns=number,
        failed=False,
        attributes={},
        resource={},
    )
