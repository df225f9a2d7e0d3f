"""Two servers, one with the fast path and one without, and what each of them answered."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import httpx

HEADERS = (
    *("content-type", "content-length", "cache-control", "x-content-type-options"),
    *("idempotency-replayed", "www-authenticate", "allow", "retry-after", "connection"),
)
JSON = {"Content-Type": "application/json"}
MASKS = {
    "id": r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}",
    "hash": r"\b[0-9a-f]{64}\b",
    "time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z",
    "name": r"(project|bob)-[0-9a-f]{8}-\d+",
}
# What is used and left of the time, which passes by itself on both.
PASSED = re.compile(
    r'("time_ms":|"time_ms":\{"limit":\d+,"used":\d+,"remaining":)-?\d+'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A project of its own behind one of the two servers, and what was answered."""

    agent: httpx.Client
    person: httpx.Client
    run: str
    heard: dict[str, Any] = field(default_factory=dict)

    def hear(self, what: str, answer: httpx.Response) -> httpx.Response:
        assert answer.status_code < 500, answer.text
        headers = {name: answer.headers.get(name) for name in HEADERS}
        body = answer.text
        for name, pattern in MASKS.items():
            seen: dict[str, str] = {}

            def mask(
                found: re.Match[str], name: str = name, seen: dict[str, str] = seen
            ) -> str:
                return seen.setdefault(found.group(), f"<{name} {len(seen) + 1}>")

            body = re.sub(pattern, mask, body)
        body, passed = PASSED.subn('"time_ms":"<passed>"', body)
        if "<name 1>" in body or passed:
            headers["content-length"] = None  # names of tests differ in length
        self.heard[what] = (answer.status_code, headers, body)
        return answer


def alike(stages: tuple[Stage, Stage]) -> None:
    fast, plain = (stage.heard for stage in stages)
    assert list(fast) == list(plain)
    pairs = {what: (fast[what], plain[what]) for what in fast}
    differences = {what: pair for what, pair in pairs.items() if pair[0] != pair[1]}
    assert differences == {}


ODD_HEADERS: dict[str, list[tuple[str, str]]] = {
    "no key": [("Authorization", "")],
    "wrong scheme": [("Authorization", "bearer crk_x")],
    "unknown key": [("Authorization", "Bearer crk_x")],
    "two credentials": [("Authorization", "Bearer a"), ("Authorization", "Bearer b")],
    "text": [("Content-Type", "text/plain")],
    "other charset": [("Content-Type", "application/json; charset=utf-16")],
    "utf-8 said": [("Content-Type", 'application/json; charset="UTF-8"')],
    "gzip": [("Content-Encoding", "gzip")],
    "identity": [("Content-Encoding", "identity")],
    "empty idempotency key": [("Idempotency-Key", "")],
    "long idempotency key": [("Idempotency-Key", "k" * 256)],
    "idempotency key with a space": [("Idempotency-Key", "a b")],
    "two idempotency keys": [("Idempotency-Key", "a"), ("Idempotency-Key", "b")],
    "other host": [("Host", "evil.example")],
    "many headers": [(f"X-{n}", "x") for n in range(150)],
    "accepts html": [("Accept", "text/html")],
    "method override": [("X-HTTP-Method-Override", "GET")],
    "forwarded": [("X-Forwarded-Host", "evil.example"), ("X-Forwarded-For", "1.2.3.4")],
    "cookie": [("Cookie", "checkrail_session=x")],
}


def odd_request(
    stage: Stage, path: str, body: Any, odd: list[tuple[str, str]]
) -> httpx.Response:
    names = {name.lower() for name, _ in odd}
    usual = [("Authorization", stage.agent.headers["Authorization"])]
    raw = b"" if body is None else json.dumps(body).encode()
    if body is not None:
        usual.append(("Content-Type", "application/json"))
    headers = [(n, v) for n, v in usual if n.lower() not in names] + odd
    # A client of its own: one that has no headers of its own to add.
    with httpx.Client(verify=False, trust_env=False) as client:  # noqa: S501
        client.headers.clear()
        return client.request(
            "GET" if body is None else "POST",
            f"{stage.agent.base_url}{path}",
            content=raw,
            headers=headers,
        )
