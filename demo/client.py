"""An agent's HTTP client: a request is sent again until an answer comes."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 8.0
# A restart is over sooner; whatever lasts longer is worth a line in the log.
QUIET_SECONDS = 5.0

logger = logging.getLogger(__name__)


class KeyRejected(Exception):
    """The server no longer takes this agent's key."""


@dataclass(slots=True)
class Counts:
    """What the fleet did, in figures."""

    runs: int = 0
    steps: int = 0
    opened: int = 0
    ruled: int = 0
    errors: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    turns: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: dict[str, Any]

    @property
    def ok(self) -> bool:
        return self.status < 400

    @property
    def problem(self) -> str:
        """The slug of a refusal."""
        return str(self.body.get("type", "")).removeprefix("/problems/")


class Outage:
    """One for the fleet: that the server is away is logged once, not per agent."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._logged = False

    def note_failure(self, why: str) -> None:
        now = monotonic()
        if self._since is None:
            self._since = now
        elif not self._logged and now - self._since >= QUIET_SECONDS:
            self._logged = True
            logger.warning("The demo agents get no answer (%s); they try again", why)

    def note_answer(self) -> None:
        if self._logged:
            logger.info("The demo agents are at work again")
        self._since, self._logged = None, False


class Client:
    def __init__(
        self, *, http: httpx.AsyncClient, key: str, counts: Counts, outage: Outage
    ) -> None:
        self._http = http
        self._headers = {"Authorization": f"Bearer {key}"}
        self._counts = counts
        self._outage = outage

    async def post(self, path: str, body: dict[str, Any]) -> Answer:
        """Sent with a key of its own, so that trying again never does it twice."""
        headers = {**self._headers, "Idempotency-Key": str(uuid4())}
        return await self._send_until_answered("POST", path, json=body, headers=headers)

    async def post_step(self, path: str, body: dict[str, Any]) -> Answer:
        """A step's number is its own key."""
        return await self._send_until_answered(
            "POST", path, json=body, headers=self._headers
        )

    async def get(self, path: str, **params: str | int) -> Answer:
        return await self._send_until_answered(
            "GET", path, params=params, headers=self._headers
        )

    async def _send_until_answered(
        self, method: str, path: str, **request: Any
    ) -> Answer:
        pause = FIRST_PAUSE
        while True:
            try:
                response = await self._http.request(method, path, **request)
                answer = Answer(response.status_code, response.json())
            except (httpx.TransportError, ValueError) as error:
                self._outage.note_failure(type(error).__name__)
            else:
                if answer.status == 401:
                    raise KeyRejected
                if answer.status < 500 and answer.problem != "rate-limited":
                    self._outage.note_answer()
                    return answer
                self._outage.note_failure(f"status {answer.status}")
            self._counts.errors += 1
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
