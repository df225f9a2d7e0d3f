"""One event to the server and back, by the standard library alone: it loads quickly.

A host is held for minutes, and meanwhile a server may be restarted or a proxy may cut a
silent connection. An event that does nothing a second time is then sent again: it finds
its call where it was.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from checkrail.hooks.events import OUTAGE_SECONDS, REPEATABLE

# A server that has held us for a while is believed to come back.
OUTAGE_SECONDS_ONCE_HELD = 90.0
HELD_AFTER = 2.0
PAUSE = 0.25
CONNECT_SECONDS = 5.0
# The server ends by itself within the time it is given; this is for the way back.
GRACE = 2.0
# What the server says of itself where nothing was judged, and soon may be.
TEMPORARY_TROUBLE = frozenset({"unavailable", "rate-limited", "request-timeout"})
GATEWAY_STATUSES = frozenset({408, 502, 503, 504})


class NoAnswer(Exception):
    """There is none to be had; the words say why, and what to do."""


class _ConnectionLost(Exception):
    """Not reached, or cut off; `sent` says that the server may have heard it."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.sent = sent


@dataclass(frozen=True)
class HookRequest:
    url: str
    key: str
    host: str
    event: str
    query: dict[str, str]
    body: bytes
    wait: float
    # How long a server that cannot be reached is tried.
    outage: float = OUTAGE_SECONDS

    def build_path(self, left: float) -> str:
        """Its address, with the seconds that are left for an answer."""
        below = urlsplit(self.url).path.rstrip("/")
        query = urlencode({**self.query, "wait_s": max(1, int(left))})
        return f"{below}/api/v1/hooks/{self.host}/{self.event}?{query}"


def send_event(call: HookRequest) -> dict[str, Any]:
    """The answer for the host, as soon as there is one."""
    end = time.monotonic() + call.wait
    give_up = time.monotonic() + call.outage
    while True:
        began, answer = time.monotonic(), None
        try:
            answer, trouble = _send_once(call, left=end - began)
        except _ConnectionLost as lost:
            reason = str(lost)
            repeat = not lost.sent or call.event in REPEATABLE
        else:
            repeat = trouble in TEMPORARY_TROUBLE and call.event in REPEATABLE
            if not repeat:
                return answer
        now = time.monotonic()
        if now - began >= HELD_AFTER:
            give_up = now + OUTAGE_SECONDS_ONCE_HELD
        if not repeat or now + PAUSE >= min(give_up, end):
            if answer is not None:
                return answer  # it says that it could not judge, and holds
            raise NoAnswer(f"{reason}. Is the server at {call.url} running?")
        time.sleep(PAUSE)


def _send_once(call: HookRequest, *, left: float) -> tuple[dict[str, Any], str]:
    link = _connect(call)
    try:
        if link.sock is not None:
            link.sock.settimeout(max(1.0, left) + GRACE)
        link.request(
            "POST",
            call.build_path(left),
            body=call.body,
            headers={
                "Authorization": f"Bearer {call.key}",
                "Content-Type": "application/json",
            },
        )
        response = link.getresponse()
        raw = response.read()
    except TimeoutError:
        raise NoAnswer(f"the server did not answer within {call.wait:g} s") from None
    except (OSError, http.client.HTTPException) as error:
        raise _ConnectionLost(f"the connection was cut: {error}", sent=True) from None
    finally:
        link.close()
    return _parse_response(call, response, raw)


def _connect(call: HookRequest) -> http.client.HTTPConnection:
    target = urlsplit(call.url)
    if target.scheme not in {"http", "https"} or not target.hostname:
        raise NoAnswer(f"{call.url!r} is no address of a server")
    secure = target.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    wait = min(CONNECT_SECONDS, call.wait)
    link = kind(target.hostname, target.port, timeout=wait)
    try:
        link.connect()
    except OSError as error:
        link.close()
        raise _ConnectionLost(
            f"the server cannot be reached: {error}", sent=False
        ) from None
    if link.sock is not None:
        # A long silence must not be taken for a dead connection on the way.
        link.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    return link


def _parse_response(
    call: HookRequest, response: http.client.HTTPResponse, raw: bytes
) -> tuple[dict[str, Any], str]:
    if response.status in GATEWAY_STATUSES:
        raise _ConnectionLost(
            f"the server or a gateway answered {response.status}", sent=True
        )
    if response.status != 200:
        raise NoAnswer(
            f"{call.url} answered {response.status}: is it the address of Checkrail?"
        )
    try:
        answer = json.loads(raw)
    except ValueError:
        answer = None
    # An empty answer means go on: it counts only where Checkrail has said it.
    if not isinstance(answer, dict) or "Checkrail-Hook" not in response.headers:
        raise NoAnswer(f"{call.url} gave no answer for a hook: is it Checkrail?")
    return answer, response.headers.get("Checkrail-Trouble", "")
