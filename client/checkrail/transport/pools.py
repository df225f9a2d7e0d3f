"""The only place that knows httpx: connections to one server, blocking and not.

Loaded at the first request, because httpx takes most of the time that an import takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx

from checkrail.agent_session import HEADER, get_agent_session
from checkrail.errors import ConfigurationError
from checkrail.transport.connection import Connection
from checkrail.transport.effects import NoResponse, Request
from checkrail.transport.responses import Response
from checkrail.transport.waits import open_waits
from checkrail.version import __version__


class Pool:
    def __init__(
        self, connection: Connection, transport: httpx.BaseTransport | None
    ) -> None:
        self._connection = connection
        self._client = httpx.Client(transport=transport, **_build_settings(connection))

    def send(self, request: Request) -> Response:
        try:
            response = self._client.request(
                **_build_arguments(request, self._connection)
            )
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _convert_error(error) from error
        return Response(response.status_code, response.headers, response.content)

    def read_lines(self, request: Request) -> Iterator[str]:
        """The lines of a long answer as they come; a refusal is one Answer, raised by
        the caller."""
        try:
            with self._client.stream(
                **_build_arguments(request, self._connection)
            ) as response:
                if response.status_code != 200:
                    raise RefusedStream(
                        Response(
                            response.status_code, response.headers, response.read()
                        )
                    )
                yield from response.iter_lines()
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _convert_error(error) from error

    def close(self) -> None:
        self._client.close()


class AsyncPool:
    def __init__(
        self, connection: Connection, transport: httpx.AsyncBaseTransport | None
    ) -> None:
        self._connection = connection
        given = _build_settings(connection)
        encrypted = connection.base.startswith("https:") and transport is None
        # One for both: to read all certificates takes a while.
        encryption = httpx.create_ssl_context() if encrypted else None
        if encryption is not None:
            given["verify"] = encryption
        self._client = httpx.AsyncClient(transport=transport, **given)
        self._waits = (
            open_waits(connection, headers=given["headers"], encryption=encryption)
            if transport is None
            else None
        )

    async def send(self, request: Request) -> Response:
        if self._waits is not None and request.read_seconds is not None:
            return await self._waits.send(request)
        try:
            response = await self._client.request(
                **_build_arguments(request, self._connection)
            )
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _convert_error(error) from error
        return Response(response.status_code, response.headers, response.content)

    async def close(self) -> None:
        if self._waits is not None:
            self._waits.close()
        await self._client.aclose()


class RefusedStream(Exception):
    """A stream was refused; `answer` says why."""

    def __init__(self, answer: Response) -> None:
        super().__init__(answer.text)
        self.answer = answer


def _build_settings(connection: Connection) -> dict[str, Any]:
    return {
        "base_url": connection.base,
        "headers": {
            "Authorization": f"Bearer {connection.secret}",
            "Accept": "application/json",
            "User-Agent": f"checkrail-python/{__version__}",
            **({HEADER: session} if (session := get_agent_session()) else {}),
        },
        "timeout": httpx.Timeout(
            connection.read_timeout, connect=connection.connect_timeout
        ),
        # Every wait holds one connection: how many there are is the caller's affair.
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=None),
        # Reading all certificates takes a while, and plain HTTP needs none.
        "verify": connection.base.startswith("https:"),
        "follow_redirects": False,
    }


def _build_arguments(request: Request, connection: Connection) -> dict[str, Any]:
    headers = dict(request.headers)
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    read = (
        connection.read_timeout
        if request.read_seconds is None
        else request.read_seconds
    )
    return {
        "method": request.method,
        "url": request.path,
        "content": request.body,
        "params": dict(request.params) or None,
        "headers": headers,
        "timeout": httpx.Timeout(
            connection.read_timeout, connect=connection.connect_timeout, read=read
        ),
    }


def _convert_error(error: Exception) -> Exception:
    """Convert httpx's error; a wrong address is not worth another try."""
    words = str(error) or type(error).__name__
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL)):
        return ConfigurationError(f"The address cannot be used: {words}")
    return NoResponse(words)
