"""The document says of every operation what a program must know to use it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from config.openapi.examples import ANSWERS, BODIES, PROBLEMS
from config.openapi.refusals import OWN
from config.pages import PROBLEM_TYPES
from tests.support.document import (
    check_answer,
    document,
    find_operation,
    resolve,
    validator,
)
from tests.support.live import Live

pytestmark = pytest.mark.once("compares a document with the code")

PUBLIC = {"get_health", "get_policy_schema", "get_readiness", "get_status"}
IDEMPOTENCY_KEY = {"$ref": "#/components/parameters/IdempotencyKey"}


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for methods in document()["paths"].values():
        yield from methods.items()


def nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from nodes(part)
    elif isinstance(value, list):
        for part in value:
            yield from nodes(part)


def test_operations_have_plain_names() -> None:
    names = [operation["operationId"] for _, operation in operations()]

    assert len(set(names)) == len(names)
    assert {"start_run", "report_step", "wait_for_decision", "rule_review"} <= {*names}
    assert [name for name in names if not re.fullmatch("[a-z]+(_[a-z]+)+", name)] == []


def test_every_operation_says_who_may_ask_and_what_is_refused() -> None:
    for _, operation in operations():
        name = operation["operationId"]
        assert (operation["security"] == []) == (name in PUBLIC), name
        if name == "answer_hook":
            assert set(operation["responses"]) == {"200"}
            continue
        assert {"400", "401"} <= set(operation["responses"]), name
        for status, reference in operation["responses"].items():
            answer = resolve(reference)
            for slug in answer.get("x-problems", ()):
                assert PROBLEM_TYPES[slug].status == int(status), name
                assert f"`{slug}`" in answer["description"], name
            if int(status) >= 400 and name not in PUBLIC:
                assert set(answer["content"]) == {"application/problem+json"}, name
            if status in {"429", "503"} and "x-problems" in answer:
                assert "Retry-After" in answer["headers"]


def test_every_operation_in_the_table_of_refusals_exists() -> None:
    assert set(OWN) <= {operation["operationId"] for _, operation in operations()}


def test_every_agent_post_that_stores_takes_an_idempotency_key() -> None:
    for method, operation in operations():
        name = operation["operationId"]
        agents = {"AgentBearer"} in [set(each) for each in operation["security"]]
        stores = not {"Hooks", "Telemetry"} & set(operation["tags"])
        if method == "post" and agents and stores:
            assert IDEMPOTENCY_KEY in operation["parameters"], name
        if IDEMPOTENCY_KEY in operation["parameters"]:
            (done,) = (
                answer
                for status, answer in operation["responses"].items()
                if status < "300"
            )
            assert "Idempotency-Replayed" in done["headers"], name
            assert (
                "idempotency-key-reuse"
                in resolve(operation["responses"]["422"])["x-problems"]
            )


def test_every_schema_and_every_operation_is_described() -> None:
    described = document()["components"]["schemas"]
    assert [
        name for name, each in described.items() if not each.get("description")
    ] == []
    for _, operation in operations():
        assert operation["description"], operation["operationId"]


def test_no_body_has_a_default_that_a_generator_would_send() -> None:
    for _, operation in operations():
        for body in nodes(operation.get("requestBody", {})):
            if "$ref" in body:
                assert not any("default" in node for node in nodes(resolve(body)))
    budget = document()["components"]["schemas"]["RunIn"]["properties"]["budget"]
    assert "default" not in budget


def test_texts_that_are_sent_say_what_they_may_hold() -> None:
    task = document()["components"]["schemas"]["RunIn"]["properties"]["task"]

    assert (task["minLength"], task["maxLength"]) == (1, 20_000)
    assert not re.search(task["pattern"], "with \0 in it")
    assert re.search(task["pattern"], "Two\nlines")


def test_an_answer_that_is_not_documented_is_noticed(
    live: Live, agent: httpx.Client
) -> None:
    run = agent.post("/runs", json={"task": "Mend it"})

    def told(status: int, body: object) -> httpx.Response:
        return httpx.Response(status, json=body, request=run.request)

    check_answer(told(201, run.json()))
    with pytest.raises(AssertionError, match="start_run does not document 418"):
        check_answer(told(418, {}))
    with pytest.raises(AssertionError, match="'mood' was unexpected"):
        check_answer(told(201, {**run.json(), "mood": "fine"}))
    with pytest.raises(AssertionError, match="required property"):
        check_answer(told(201, {"id": run.json()["id"]}))


def test_the_closest_address_is_the_operation() -> None:
    found = find_operation("POST", "/api/v1/webhooks/deliveries/1/resend")

    assert found
    assert found["operationId"] == "resend_delivery"


def test_every_example_is_valid() -> None:
    shown, refused = 0, set()
    for _, operation in operations():
        name = operation["operationId"]
        sent = operation.get("requestBody", {}).get("content", {})
        for content in sent.values():
            for example in content.get("examples", {}).values():
                fault = first_fault(content["schema"], example["value"])
                assert fault is None, f"{name}: {fault}"
                shown += 1
        for reference in operation["responses"].values():
            for content in resolve(reference).get("content", {}).values():
                if "example" in content:
                    fault = first_fault(content["schema"], content["example"])
                    assert fault is None, f"{name}: {fault}"
                    shown += 1
                for slug, example in content.get("examples", {}).items():
                    fault = first_fault(content["schema"], example["value"])
                    assert fault is None, f"{name}, {slug}: {fault}"
                    refused.add(slug)
    assert refused == PROBLEMS.keys()
    assert shown >= len(BODIES) + len(ANSWERS)


def first_fault(schema: dict[str, Any], value: object) -> object:
    return next(validator(json.dumps(schema)).iter_errors(value), None)
