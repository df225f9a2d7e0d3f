"""Every schema of the document has a name of its own."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from ninja import NinjaAPI
from pydantic import BaseModel, create_model

from config.api import api
from config.openapi.document import Document, NameTaken


def api_answering(*models: type[BaseModel]) -> NinjaAPI:
    doors = NinjaAPI(urls_namespace="two-answers")
    for number, model in enumerate(models):
        doors.get(f"/{number}", response=model, operation_id=str(number))(
            lambda request: None
        )
    return doors


def test_two_schemas_of_one_name_are_refused() -> None:
    first = create_model("Answer", run=(str, ...))
    second = create_model("Answer", decision_id=(str, ...))

    with pytest.raises(NameTaken, match="are named Answer"):
        Document(api_answering(first, second), "")


def test_one_schema_may_be_answered_twice() -> None:
    answer = create_model("Answer", run=(str, ...))

    assert "Answer" in Document(api_answering(answer, answer), "").schemas


def test_the_check_at_the_start_names_the_schema(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert [each for each in run_checks() if each.id == "config.E001"] == []

    def build(**_options: object) -> None:
        raise NameTaken("Answer")

    monkeypatch.setattr(api, "get_openapi_schema", build)
    assert [each.msg for each in run_checks() if each.id == "config.E001"] == [
        "Two schemas of the API are named Answer, and they differ: rename one."
    ]


@pytest.mark.parametrize(
    ("operation", "status", "field"),
    [
        ("/runs/{run}/steps", "201", "decision"),
        ("/runs/{run}/decision", "200", "run_status"),
        ("/runs/{run}/finish", "200", "evaluations"),
        ("/loop/decisions/{decision_id}", "200", "decision_id"),
        ("/loop", "200", "paused"),
    ],
)
def test_the_main_answers_have_their_own_fields(
    operation: str, status: str, field: str
) -> None:
    document = api.get_openapi_schema()
    (methods,) = (
        methods
        for path, methods in document["paths"].items()
        if path == f"/api/v1{operation}"
    )
    (item,) = methods.values()
    answer = item["responses"][int(status)]["content"]["application/json"]["schema"]

    name = answer["$ref"].rpartition("/")[2]
    assert field in document["components"]["schemas"][name]["properties"]
