"""The only place that knows httpx: connections to one server, blocking and not.

Loaded at the first request, because httpx takes most of the time that an import takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx

from checkrail.errors import ConfigurationError
from checkrail.transport.connection import Link
from checkrail.transport.effects import Request, Unanswered
from checkrail.transport.responses import Answer
from checkrail.version import __version__


class Pool:
    def __init__(self, link: Link, transport: httpx.BaseTransport | None) -> None:
        self._link = link
        self._client = httpx.Client(transport=transport, **_settings(link))

    def send(self, request: Request) -> Answer:
        try:
            response = self._client.request(**_arguments(request, self._link))
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _trouble(error) from error
        return Answer(response.status_code, response.headers, response.content)

    def lines(self, request: Request) -> Iterator[str]:
        """The lines of a long answer as they come; a refusal is one Answer, raised by
        the caller."""
        try:
            with self._client.stream(**_arguments(request, self._link)) as response:
                if response.status_code != 200:
                    raise Refused(
                        Answer(response.status_code, response.headers, response.read())
                    )
                yield from response.iter_lines()
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _trouble(error) from error

    def close(self) -> None:
        self._client.close()


class AsyncPool:
    def __init__(self, link: Link, transport: httpx.AsyncBaseTransport | None) -> None:
        self._link = link
        self._client = httpx.AsyncClient(transport=transport, **_settings(link))

    async def send(self, request: Request) -> Answer:
        try:
            response = await self._client.request(**_arguments(request, self._link))
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _trouble(error) from error
        return Answer(response.status_code, response.headers, response.content)

    async def close(self) -> None:
        await self._client.aclose()


class Refused(Exception):
    """A streamed answer that is none; `answer` says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.text)
        self.answer = answer


def _settings(link: Link) -> dict[str, Any]:
    return {
        "base_url": link.base,
        "headers": {
            "Authorization": f"Bearer {link.secret}",
            "Accept": "application/json",
            "User-Agent": f"checkrail-python/{__version__}",
        },
        "timeout": httpx.Timeout(link.read_timeout, connect=link.connect_timeout),
        # Every wait holds one connection: how many there are is the caller's affair.
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=None),
        # Reading all certificates takes a while, and plain HTTP needs none.
        "verify": link.base.startswith("https:"),
        "follow_redirects": False,
    }


def _arguments(request: Request, link: Link) -> dict[str, Any]:
    headers = dict(request.headers)
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    read = link.read_timeout if request.read_seconds is None else request.read_seconds
    return {
        "method": request.method,
        "url": request.path,
        "content": request.body,
        "params": dict(request.params) or None,
        "headers": headers,
        "timeout": httpx.Timeout(
            link.read_timeout, connect=link.connect_timeout, read=read
        ),
    }


def _trouble(error: Exception) -> Exception:
    """An address that cannot be one will not become one by trying again."""
    words = str(error) or type(error).__name__
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.InvalidURL)):
        return ConfigurationError(f"The address cannot be used: {words}")
    return Unanswered(words)
