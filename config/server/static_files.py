"""Files for browsers, on a sync and on an async server: kept for a year where the name
says what is in them, and asked for anew where it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.decorators import sync_and_async_middleware

from config.server.assets import Found, find_source
from config.server.bundles import get_assets
from config.server.encodings import accepts_gzip

FOR_A_YEAR = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"


class HashedNames(StaticFilesStorage):
    """What `{% static %}` writes: a name that is not there is an error of the template."""

    def url(self, name: str | None) -> str:
        if not settings.BUNDLES:
            return f"{settings.STATIC_URL}{name}"
        return get_assets().get_url(name or "")


@sync_and_async_middleware
def serve_static_files(
    get_response: Callable[[HttpRequest], Any],
) -> Callable[..., Any]:
    find: Callable[[str], Found | None] = partial(find_source, settings.ROOT / "static")
    if settings.BUNDLES:
        find = get_assets().find
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            found = find(request.path_info)
            if found is None:
                return await get_response(request)
            if found.asset.is_text:
                # Compressed once, which takes long enough for others to notice.
                await asyncio.to_thread(lambda: found.asset.gzipped)
            return _build_response(request, found)

        return answer_later

    def answer(request: HttpRequest) -> Any:
        found = find(request.path_info)
        return (
            get_response(request) if found is None else _build_response(request, found)
        )

    return answer


def _build_response(request: HttpRequest, found: Found) -> HttpResponseBase | None:
    if request.method not in {"GET", "HEAD"}:
        return HttpResponseNotAllowed(["GET", "HEAD"])
    asset = found.asset
    etag = f'W/"{asset.digest}"'  # the same, compressed or not
    headers = {
        "Cache-Control": FOR_A_YEAR if found.is_exact else ASK_AGAIN,
        "ETag": etag,
    }
    body = asset.body
    if asset.is_text:
        headers["Vary"] = "Accept-Encoding"
        if accepts_gzip(request.headers.get("Accept-Encoding", "")):
            headers["Content-Encoding"] = "gzip"
            body = asset.gzipped
    headers["Content-Length"] = str(len(body))
    response = HttpResponse(body, content_type=asset.content_type, headers=headers)
    return get_conditional_response(request, etag=etag, response=response)
