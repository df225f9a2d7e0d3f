"""The last word on /api/: whatever Django or ninja refuse, it is problem+json."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from config.fastpath.problems import MEDIA_TYPE
from config.pages import method_not_allowed


def _mended(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if (
        request.path.startswith("/api/")
        and response.status_code == 405
        and response.headers.get("Content-Type") != MEDIA_TYPE
    ):
        return method_not_allowed(response)
    return response


@sync_and_async_middleware
def api_problems(get_response: Callable[[HttpRequest], Any]) -> Callable[..., Any]:
    if iscoroutinefunction(get_response):

        async def mend_later(request: HttpRequest) -> HttpResponse:
            return _mended(request, await get_response(request))

        return mend_later

    def mend(request: HttpRequest) -> HttpResponse:
        return _mended(request, get_response(request))

    return mend
