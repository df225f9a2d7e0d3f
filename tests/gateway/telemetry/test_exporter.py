"""The exporter of OpenTelemetry itself, set up as its users set it up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from django.core.management import call_command
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode, Tracer
from opentelemetry.util.types import AttributeValue

from accounts.models import Project
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.verify import verify_run
from reviews.models import Review
from tests.config.fastpath.streams import ledger
from tests.gateway.telemetry.spans import runs
from tests.support.builders import Robot, make_policy
from tests.support.live import Live


@pytest.fixture(params=["none", "gzip"])
def provider(
    request: pytest.FixtureRequest,
    live: Live,
    robo: Robot,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[TracerProvider]:
    secret = quote(f"Bearer {robo.key}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{live.api}/otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"Authorization={secret}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", request.param)
    resource = Resource.create(
        {"service.name": "travel-desk", "checkrail.policy": "tight"}
    )
    made = TracerProvider(resource=resource)
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    yield made
    made.shutdown()


def plan_a_trip(tracer: Tracer) -> None:
    whole: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "Trip planner",
        "gen_ai.conversation.id": "talk-7",
        "gen_ai.usage.input_tokens": 2_000,
        "gen_ai.usage.output_tokens": 300,
    }
    asked: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "some-model",
        "gen_ai.usage.input_tokens": 1_000,
        "gen_ai.usage.output_tokens": 150,
    }
    tool: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search_flights",
    }
    with tracer.start_as_current_span("invoke_agent Trip planner", attributes=whole):
        with tracer.start_as_current_span("chat some-model", attributes=asked):
            pass
        with tracer.start_as_current_span("POST /flights"):
            pass  # of no agent: accepted, and nobody's step
        with tracer.start_as_current_span("execute_tool", attributes=tool) as called:
            called.set_attribute("error.type", "TimeoutError")
            called.set_status(Status(StatusCode.ERROR))
        with tracer.start_as_current_span("chat some-model", attributes=asked):
            pass


def test_what_an_agent_did_stands_in_the_ledger_and_held_nobody(
    provider: TracerProvider, agent: httpx.Client, project: Project
) -> None:
    make_policy("tight", project=project, budget={"tokens": 2_000})

    plan_a_trip(provider.get_tracer("tests"))
    provider.force_flush()

    (run,) = runs(agent)
    assert run["status"] == "completed"
    assert run["steps"] == run["last_step"] == 3
    assert run["task"] == "Trip planner"
    assert run["model"] == "some-model"
    assert run["policy"]["name"] == "tight"
    assert run["budget"]["tokens"]["used"] == 2_300  # of the parts, not of the whole
    assert run["budget"]["tool_calls"]["used"] == 1
    labels = dict(run["labels"])
    assert len(labels.pop("trace")) == 32
    assert labels == {
        "source": "opentelemetry",
        "service": "travel-desk",
        "agent": "Trip planner",
        "conversation": "talk-7",
    }
    started, first, called, last, finished = ledger(agent, run["id"])
    assert started["payload"]["observed"] is True
    # Told after the fact: how long we have known of it says nothing about its work.
    assert "timed" not in started["payload"]
    assert {step["type"] for step in (first, called, last)} == {"step.observed"}
    assert called["payload"]["report"]["failed_calls"] == 1
    said = [step["payload"]["report"]["summary"] for step in (first, called, last)]
    assert said[:2] == ["chat some-model", "search_flights, failed: TimeoutError"]
    # The gates have their say; nothing comes of it.
    verdict = last["payload"]["verdict"]
    assert verdict["decision"] == "stop"
    assert verdict["findings"][0]["gate"] == "budget"
    assert finished["type"] == "run.finished"
    assert finished["payload"]["outcome"] == "completed"
    row = Run.objects.get(code=run["id"])
    assert row.last_decision == ""
    assert not Review.objects.filter(run=row).exists()
    assert verify_run(row).ok
    assert replay_run(row).difference is None
    call_command("replay", run=run["id"])
    call_command("ledger_verify", run=run["id"])
    assert json.loads(row.memory)["observed"] is True
    assert (row.running_ms, row.running_since, row.time_over_at) == (None, None, None)
