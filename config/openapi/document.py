"""The OpenAPI document, built from the operations and refused where it would lie."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import REF_TEMPLATE, OpenAPISchema
from ninja.operation import Operation

from config.openapi.bodies import describe_bodies, find_referenced
from config.openapi.examples import ANSWERS, BODIES
from config.openapi.parameters import describe_parameter
from config.openapi.problem import build_problem_schema
from config.openapi.refusals import build_response, build_response_name, list_problems
from ledger.schemas import LedgerEnd, LedgerEntry

# Nothing is stored by these, or the sender has no say in the headers.
_WITHOUT_KEY = frozenset({"Evaluate", "Hooks", "Telemetry"})
_IDEMPOTENCY_KEY = {"$ref": "#/components/parameters/IdempotencyKey"}
_REPLAYED = {"$ref": "#/components/headers/IdempotencyReplayed"}


class NameTaken(Exception):
    """Two different schemas have one name: the document would show only the last."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"Two schemas of the API are named {name}, and they differ: rename one."
        )


class Document(OpenAPISchema):
    def __init__(self, api: NinjaAPI, path_prefix: str) -> None:
        self.problem_responses: dict[str, Any] = {}
        super().__init__(api, path_prefix)
        # Filters are documented as parameters, and nothing refers to them as schemas.
        used = find_referenced(self.schemas, self["paths"], self.problem_responses)
        for name in self.schemas.keys() - used:
            del self.schemas[name]
        describe_bodies(self)

    def add_schema_definitions(self, definitions: Mapping[str, Any]) -> None:
        for name, definition in definitions.items():
            # Ninja takes apart what it was given; another operation may bring the same.
            if self.schemas.setdefault(name, deepcopy(definition)) != definition:
                raise NameTaken(name)

    def operation_details(self, operation: Operation) -> dict[str, Any]:
        details: dict[str, Any] = super().operation_details(operation)
        (method,) = (each.lower() for each in operation.methods)
        details.setdefault("security", [])
        for parameter in details["parameters"]:
            describe_parameter(parameter)
        if _takes_key(details, method):
            details["parameters"].append(_IDEMPOTENCY_KEY)
            for answer in details["responses"].values():
                answer["headers"] = {"Idempotency-Replayed": _REPLAYED}
        self._add_examples(details)
        for problems in list_problems(details, method=method):
            name = build_response_name(problems)
            self.problem_responses[name] = build_response(problems)
            reference = {"$ref": f"#/components/responses/{name}"}
            details["responses"].setdefault(problems[0].status, reference)
        return details

    def get_components(self) -> dict[str, Any]:
        for name, schema in (
            ("Problem", build_problem_schema(REF_TEMPLATE)),
            *(
                (each.__name__, each.model_json_schema(ref_template=REF_TEMPLATE))
                for each in (LedgerEntry, LedgerEnd)
            ),
        ):
            self.add_schema_definitions(schema.pop("$defs", {}))
            self.add_schema_definitions({name: schema})
        return {
            **super().get_components(),
            "responses": self.problem_responses,
            "parameters": {
                "IdempotencyKey": {
                    "in": "header",
                    "name": "Idempotency-Key",
                    "description": "The same key with the same request again gets the "
                    "same answer, and nothing is done twice. For agents; kept for 72 "
                    "hours.",
                    "required": False,
                    "schema": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 255,
                        "pattern": "^[!-~]+$",
                    },
                }
            },
            "headers": {
                "IdempotencyReplayed": {
                    "description": "Only where this is an earlier answer again.",
                    "required": False,
                    "schema": {"type": "string", "const": "true"},
                },
                "RetryAfter": {
                    "description": "After how many seconds to ask again.",
                    "required": True,
                    "schema": {"type": "string", "pattern": "^[0-9]+$"},
                },
            },
        }

    def _add_examples(self, details: dict[str, Any]) -> None:
        name = details["operationId"]
        if name in BODIES:
            _get_json_part(details["requestBody"])["examples"] = BODIES[name]
        for answer in details["responses"].values():
            if name in ANSWERS and "content" in answer:
                _get_json_part(answer)["example"] = ANSWERS[name]


def _takes_key(details: Mapping[str, Any], method: str) -> bool:
    by_agents = any(
        {"AgentBearer", "Bearer"} & each.keys() for each in details["security"]
    )
    return method == "post" and by_agents and not _WITHOUT_KEY & set(details["tags"])


def _get_json_part(part: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = part["content"]["application/json"]
    return content
