"""What every refusal on /api/ must look like, whoever refuses."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.document import check_answer

STATUSES = {
    "malformed": 400,
    "duplicate-key": 400,
    "bad-encoding": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "four-eyes": 403,
    "not-found": 404,
    "method-not-allowed": 405,
    "run-closed": 409,
    "run-paused": 409,
    "halted": 409,
    "shadow-running": 409,
    "step-out-of-order": 409,
    "step-conflict": 409,
    "review-open": 409,
    "already-ruled": 409,
    "grant-spent": 409,
    "grant-mismatch": 409,
    "unchanged": 409,
    "review-expired": 410,
    "grant-expired": 410,
    "stale-version": 412,
    "too-large": 413,
    "unsupported-media": 415,
    "invalid": 422,
    "idempotency-key-reuse": 422,
    "precondition-required": 428,
    "rate-limited": 429,
    "limit-reached": 429,
    "unavailable": 503,
}


def problem(answer: httpx.Response, slug: str) -> dict[str, Any]:
    """The body of the refusal, after all that is common to refusals was checked."""
    body = any_problem(answer)
    assert body["type"] == f"/problems/{slug}", body
    assert answer.status_code == STATUSES[slug], body
    return body


def any_problem(answer: httpx.Response) -> dict[str, Any]:
    check_answer(answer)
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    assert answer.headers["cache-control"] == "no-store"
    body: dict[str, Any] = answer.json()
    assert body["status"] == answer.status_code < 500, body
    assert body["type"].startswith("/problems/")
    assert body["title"]
    assert body["detail"]
    for error in body.get("errors", ()):
        assert set(error) - {"line", "column"} == {"loc", "message"}
        assert error["message"]
    return body


def fields(body: dict[str, Any]) -> list[str]:
    """Which fields a refusal names, as dotted paths."""
    return [".".join(map(str, error["loc"])) for error in body["errors"]]
