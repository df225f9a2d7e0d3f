"""Pages that belong to no app: API documentation, problem types, error pages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import is_valid_path
from django.utils.decorators import sync_and_async_middleware

from common import errors as account_errors
from common.errors import (
    DomainError,
    Forbidden,
    InternalError,
    Malformed,
    MethodNotAllowed,
    NotFound,
)
from config.api import api, build_problem_response
from config.fastpath.problems import MEDIA_TYPE
from config.openapi.page import group_operations, list_named_types
from ledger import idempotency as ledger_errors
from ledger.writer import halts as halt_errors
from reviews import errors as review_errors


def api_docs(request: HttpRequest) -> HttpResponse:
    """Every operation, rendered on the server: no script, nothing from outside."""
    return render(request, "config/api_docs.html", _build_document())


@cache
def _build_document() -> dict[str, Any]:
    """Once: the operations do not change while we run."""
    schema = api.get_openapi_schema()
    return {
        "schema": schema,
        "tags": group_operations(schema),
        "types": list_named_types(schema),
    }


def _list_problem_types() -> dict[str, type[DomainError]]:
    modules = (account_errors, ledger_errors, halt_errors, review_errors)
    found = [
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, DomainError) and kind is not DomainError
    ]
    return {kind.slug: kind for kind in found}


PROBLEM_TYPES = _list_problem_types()


def problem(request: HttpRequest, slug: str) -> HttpResponse:
    """What a problem's `type` means, for whoever follows the link."""
    kind = PROBLEM_TYPES.get(slug)
    if kind is None:
        raise Http404
    return render(
        request,
        "config/problem.html",
        {"slug": slug, "title": kind.title, "status": kind.status},
    )


# Status: what a page says to a person, where the API has words for programs.
_ERRORS = {
    400: ("Bad request", "Your browser sent something that cannot be read."),
    403: ("Not allowed", "You do not have permission to do this."),
    404: (
        "Page not found",
        "The address is wrong, or it belongs to a project you are not in.",
    ),
    500: (
        "Something went wrong",
        "Nothing was changed. Try again; the cause is in the server's log.",
    ),
}


def _render_error(request: HttpRequest, error: DomainError) -> HttpResponse:
    if request.path.startswith("/api/"):
        return build_problem_response(error)
    title, text = _ERRORS[error.status]
    return render(
        request,
        "config/error.html",
        {"title": title, "text": text},
        status=error.status,
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _render_error(request, Malformed("The request cannot be understood."))


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _render_error(request, Forbidden("You may not do this."))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _render_error(request, NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    return _render_error(request, InternalError("The error is in the server's log."))


def render_method_not_allowed(response: HttpResponse) -> HttpResponse:
    allowed: Any = response.headers.get("Allow", "")
    error = MethodNotAllowed(f"Use {allowed}." if allowed else "Use another verb.")
    error.headers["Allow"] = allowed
    return build_problem_response(error)


def _answer_wrong_method(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if response.status_code != 405:
        return response
    if request.path.startswith("/api/"):
        told = response.headers.get("Content-Type") == MEDIA_TYPE
        return response if told else render_method_not_allowed(response)
    # The answer to a form leaves its address in the browser, where it is opened again.
    if request.method == "GET" and not request.headers.get("HX-Request"):
        return redirect(_find_page_above(request.path_info))
    return response


def _find_page_above(path: str) -> str:
    """The nearest address above this one that there is; it may lead on to the next."""
    while path != "/":
        path = path.rstrip("/").rpartition("/")[0] + "/"
        if is_valid_path(path):
            return path
    return path


@sync_and_async_middleware
def answer_wrong_methods(
    get_response: Callable[[HttpRequest], Any],
) -> Callable[..., Any]:
    """Have the last word on a method that an address does not take: problem+json on /api/,
    and for a person who opens the address of a form again, the page it belongs to."""
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> HttpResponse:
            return _answer_wrong_method(request, await get_response(request))

        return answer_later

    def answer(request: HttpRequest) -> HttpResponse:
        return _answer_wrong_method(request, get_response(request))

    return answer
