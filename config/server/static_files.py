"""Static files straight from the source folder, on a sync and on an async server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import StaticFile

Answer = HttpResponse | Awaitable[HttpResponse]


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, awaitable: as it comes it is synchronous, which costs every request
    behind it a thread, and answers with a stream, which an async server must not."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Answer]) -> None:
        super().__init__(get_response)
        self._awaited = iscoroutinefunction(get_response)
        if self._awaited:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Answer:
        if self._awaited:
            return self._answer(request)
        answer: Answer = super().__call__(request)
        return answer

    async def _answer(self, request: HttpRequest) -> HttpResponse:
        found = self.files.get(request.path_info)
        if found is not None:
            return self.serve(found, request)
        answer: HttpResponse = await self.get_response(request)
        return answer

    @staticmethod
    def serve(static_file: StaticFile, request: HttpRequest) -> HttpResponse:
        """All of the file at once: the largest of ours is a font of 48 kB."""
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file as file:
                body = file.read()
        response = HttpResponse(body, status=int(found.status))
        del response["Content-Type"]
        for name, value in found.headers:
            response[name] = value
        if found.file is not None:
            # The file may have changed since its size was noted at the start.
            response["Content-Length"] = str(len(body))
        return response
