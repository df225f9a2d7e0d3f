"""Pages and long answers of reads, compressed for whoever takes gzip.

Only what is read: what answers a POST may show a key or a link, once, beside what was
typed. A view that shows one elsewhere says `no-transform`, which is obeyed here. What
agents wait for is left as it is, and streams are, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware
from django.utils.text import compress_string

from config.fastpath.routes import find_route
from config.server.encodings import accepts_gzip

# The shortest body that is worth it, by what it is.
SHORTEST = {"text/html": 1_024, "application/json": 8_192}
# A longer one takes a millisecond or more, which the event loop has for others.
LONGEST_IN_LOOP = 32_768
# So many bytes at most are added by chance: the size of a page tells less of what is in it.
PADDING = 100


@sync_and_async_middleware
def compress_answers(get_response: Callable[[HttpRequest], Any]) -> Callable[..., Any]:
    if iscoroutinefunction(get_response):

        async def answer_later(request: HttpRequest) -> Any:
            response = await get_response(request)
            if _is_wanted(request, response):
                body = response.content
                if len(body) > LONGEST_IN_LOOP:
                    _set_body(response, await asyncio.to_thread(_compress, body))
                else:
                    _set_body(response, _compress(body))
            return response

        return answer_later

    def answer(request: HttpRequest) -> Any:
        response = get_response(request)
        if _is_wanted(request, response):
            _set_body(response, _compress(response.content))
        return response

    return answer


def _is_wanted(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Whether to compress it; what could have been says that it varies."""
    if not _is_suitable(request, response):
        return False
    patch_vary_headers(response, ["Accept-Encoding"])
    return accepts_gzip(request.headers.get("Accept-Encoding", ""))


def _is_suitable(request: HttpRequest, response: HttpResponseBase) -> bool:
    if request.method not in {"GET", "HEAD"} or not isinstance(response, HttpResponse):
        return False
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    shortest = SHORTEST.get(kind)
    return (
        shortest is not None
        and len(response.content) >= shortest
        and "Content-Encoding" not in response.headers
        and "no-transform" not in response.headers.get("Cache-Control", "")
        and not _is_for_agents(request)
    )


def _is_for_agents(request: HttpRequest) -> bool:
    """Whether the fast path has it, also where it is switched off."""
    route, _ = find_route(request.method or "", request.path)
    return route.answer is not None


def _compress(body: bytes) -> bytes:
    return compress_string(body, max_random_bytes=PADDING)


def _set_body(response: HttpResponse, body: bytes) -> None:
    response.content = body
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Length"] = str(len(body))
