"""The one NinjaAPI: every router, and one shape for every error."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation
from ninja.parser import Parser

from accounts.api_auth import get_parsed_request
from common.errors import (
    DomainError,
    Forbidden,
    Malformed,
    Unauthenticated,
)
from config.access.enforce import guard_operations
from config.fastpath.problems import (
    MEDIA_TYPE,
    build_invalid_fields,
    build_problem,
    render_problem,
)
from config.health.api import router as health
from config.openapi.document import Document
from gateway.api.calls import evaluate
from gateway.api.calls import router as calls
from gateway.api.checks import evaluate as evaluate_checks
from gateway.api.checks import router as checks
from gateway.api.hooks import router as hooks
from gateway.api.notes import router as note_reading
from gateway.api.plans import router as plans
from gateway.api.runs import router as agents
from gateway.api.telemetry import router as telemetry
from ledger.api import list_runs
from ledger.api import router as ledger
from ledger.schemas import RunPage
from ledger.statistics.api import router as figures
from loop.api import router as loop
from loop.people_api import router as loop_people
from reviews.administration.agents.api import router as administration_agents
from reviews.administration.own.api import router as own_tokens
from reviews.administration.people.api import router as members
from reviews.administration.project.api import router as projects
from reviews.agent_notes.api import router as agent_notes
from reviews.allowances.api import router as allowances
from reviews.api import router as people
from reviews.bulk.api import router as bulk
from reviews.halts.api import router as halts
from reviews.past_rulings.api import router as past_rulings
from reviews.permissions.api import router as permissions
from reviews.permissions.exemptions_api import router as exemptions
from reviews.policies.api import router as policies
from reviews.policies.assignments_api import router as assignments
from reviews.policies.backtest.api import router as backtests
from reviews.policies.limits.api import router as limits
from reviews.policies.shadow.api import router as shadows
from reviews.policies.suggestions.api import router as suggestions
from reviews.policies.versions_api import router as policy_versions
from reviews.statistics.api import router as statistics
from reviews.teamwork.api import router as teamwork
from webhooks.api import router as webhooks


class SeenParser(Parser):
    """The fast path has parsed the body already, strictly and once."""

    def parse_body(self, request: HttpRequest) -> Any:
        return get_parsed_request(request).document


class DocumentedAPI(NinjaAPI):
    """Its document is built once: the operations do not change while we run."""

    _document: Document | None = None

    def get_openapi_schema(
        self,
        *,
        path_prefix: str | None = None,
        path_params: dict[str, Any] | None = None,
    ) -> OpenAPISchema:
        if self._document is None:
            root = path_prefix or self.get_root_path(path_params or {})
            self._document = Document(self, root)
        return self._document

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = DocumentedAPI(
    title="Checkrail",
    version="1",
    description=(
        "Agents report every step; gates decide whether they may go on; what needs a "
        "person waits in a queue; everything stands in a ledger that nobody can "
        "quietly change. Every error is application/problem+json."
    ),
    docs_url=None,
    parser=SeenParser(),
    servers=[{"url": "/", "description": "The server that shows this document"}],
    urls_namespace="api-1",
)
# One path, two operations: POST starts a run (agents), GET lists them (everybody).
agents.get("/runs", response=RunPage, tags=["Runs"])(list_runs)
api.add_router("", agents)
api.add_router("", calls)
api.add_router("", plans)
api.add_router("", checks)
api.add_router("", evaluate_checks)
api.add_router("", evaluate)
api.add_router("", hooks)
# Before the reviews, whose ids stand at the same place of the path.
api.add_router("", bulk)
api.add_router("", people)
api.add_router("", teamwork)
api.add_router("", past_rulings)
api.add_router("", permissions)
api.add_router("", allowances)
api.add_router("", agent_notes)
api.add_router("", note_reading)
api.add_router("", exemptions)
api.add_router("", halts)
api.add_router("", assignments)
api.add_router("", policies)
api.add_router("", policy_versions)
api.add_router("", backtests)
api.add_router("", shadows)
api.add_router("", limits)
api.add_router("", suggestions)
api.add_router("", figures)
api.add_router("", statistics)
api.add_router("", members)
api.add_router("", own_tokens)
api.add_router("", projects)
api.add_router("", administration_agents)
api.add_router("", telemetry)
api.add_router("", webhooks)
api.add_router("", loop)
api.add_router("", loop_people)
api.add_router("", ledger)
api.add_router("", health)
guard_operations(api)


def build_problem_response(error: DomainError) -> HttpResponse:
    return HttpResponse(
        render_problem(error),
        status=error.status,
        content_type=MEDIA_TYPE,
        headers={
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            **error.headers,
        },
    )


@api.exception_handler(DomainError)
def _handle_refusal(_request: HttpRequest, error: DomainError) -> HttpResponse:
    return build_problem_response(error)


@api.exception_handler(ValidationError)
def _handle_invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    about_body = any(item["loc"][0] == "body" for item in error.errors)
    if about_body and not get_parsed_request(request).raw:
        return build_problem_response(
            Malformed("The body is empty: send one JSON document.")
        )
    items = [{**item, "loc": _name_parameter(item["loc"])} for item in error.errors]
    return build_problem_response(build_invalid_fields(items, strip=("body", "body")))


def _name_parameter(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Of one of several values the name alone, without what the code calls them all."""
    return (loc[0], loc[2]) if loc[0] == "query" and len(loc) == 4 else loc


@api.exception_handler(DatabaseError)
@api.exception_handler(InterfaceError)
def _handle_no_database(
    request: HttpRequest, error: DatabaseError | InterfaceError
) -> HttpResponse:
    method = request.method or ""
    return build_problem_response(
        build_problem(error, method=method, path=request.path)
    )


@api.exception_handler(AuthenticationError)
def _handle_unauthenticated(
    _request: HttpRequest, _error: AuthenticationError
) -> HttpResponse:
    return build_problem_response(Unauthenticated())


@api.exception_handler(HttpError)
def _handle_framework_error(_request: HttpRequest, error: HttpError) -> HttpResponse:
    """Ninja's own refusals: only the CSRF check is left to it."""
    if error.status_code == 403:
        return build_problem_response(
            Forbidden("Send the CSRF token with the session.")
        )
    return build_problem_response(Malformed(error.message))
