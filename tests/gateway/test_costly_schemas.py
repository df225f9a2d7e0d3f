"""A schema that asks for too much work is refused when it is stored; a stored one, and
arguments that are too large for theirs, ask a person."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from accounts.models import Project
from guidance.core.arguments.schema_cost import LOOK_LIMIT
from guidance.core.canonical import to_canonical_json
from reviews.policies.acts import StoreVersion
from reviews.policies.chain import perform
from tests.gateway.calls.calls import tool
from tests.support.builders import make_policy, start_run

pytestmark = pytest.mark.once("judges calls, not SQL")

DEFS: dict[str, Any] = {
    f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]}
    for n in range(30)
}
FAN: dict[str, Any] = {
    "$defs": DEFS | {"a30": {"type": "string"}},
    "$ref": "#/$defs/a0",
}
PLAIN = {"additionalProperties": {"type": "integer"}}


def test_a_policy_with_such_a_schema_is_refused_with_the_place(
    manager: httpx.Client,
) -> None:
    document = {"tools": {"schemas": {"t": FAN, "u": PLAIN}}}
    (error,) = manager.post("/policies/validate", json={"document": document}).json()[
        "errors"
    ]
    assert error["loc"][:4] == ["tools", "schemas", "t", "$defs"]
    assert f"{LOOK_LIMIT:,}" in error["message"]
    stored = manager.post("/policies/fan/versions", json={"document": document})
    assert stored.status_code == 422
    assert manager.get("/policies/fan").status_code == 404


def test_kinds_of_a_loop_are_looked_at_alike(manager: httpx.Client) -> None:
    kinds = [{"name": "good", "parameters": PLAIN}, {"name": "bad", "parameters": FAN}]
    document = {"loop": {"kinds": kinds}}
    (error,) = manager.post("/policies/validate", json={"document": document}).json()[
        "errors"
    ]
    assert error["loc"][:5] == ["loop", "kinds", 1, "parameters", "$defs"]


def test_a_stored_one_asks_a_person_about_every_call(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("fan", project=project, tools={"schemas": {"t": PLAIN}})
    document = to_canonical_json({"tools": {"schemas": {"t": FAN}}})
    perform(
        project.pk,
        lambda run: StoreVersion(
            run_code=run, name="fan", text=document, note="", person=None, activate=True
        ),
    )
    run = start_run(agent, policy="fan")
    call = tool(agent, run, "t", x=1)
    assert call["decision"] == "require-confirmation"
    (finding,) = [f for f in call["findings"] if f["gate"] == "schema"]
    assert "too much work" in finding["message"]
    assert finding["details"]["uninspectable"] is True
    assert tool(agent, run, "u", x=1)["decision"] == "allow"


def test_arguments_too_large_for_their_schema_ask_a_person(
    agent: httpx.Client, project: Project
) -> None:
    parts = {"allOf": [PLAIN] * 200}
    make_policy(
        "wide", project=project, tools={"schemas": {"t": {"properties": {"x": parts}}}}
    )
    run = start_run(agent, policy="wide")
    large = {str(n): n for n in range(5_000)}
    assert tool(agent, run, "t", x=large)["decision"] == "require-confirmation"
    assert tool(agent, run, "t", x={"1": 1})["decision"] == "allow"
    assert tool(agent, run, "t", x={"1": "one"})["decision"] == "block"


def test_arguments_with_too_many_faults_are_refused_in_one(
    agent: httpx.Client, project: Project
) -> None:
    make_policy("wide", project=project, tools={"schemas": {"t": PLAIN}})
    run = start_run(agent, policy="wide")
    call = tool(agent, run, "t", **{f"n{n}": "x" for n in range(5_000)})
    assert call["decision"] == "block"
    (finding,) = [f for f in call["findings"] if f["gate"] == "schema"]
    assert "too large to say where" in finding["message"]
