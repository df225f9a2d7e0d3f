"""Backtests over the API, and the worker that runs them."""

from __future__ import annotations

from typing import Any

import httpx

from reviews.tasks import run_backtests


def start(client: httpx.Client, name: str = "default", **body: Any) -> str:
    answer = client.post(f"/policies/{name}/backtest", json=body)
    assert answer.status_code == 202, answer.text
    code: str = answer.json()["id"]
    return code


def get(client: httpx.Client, code: str, path: str = "", **query: Any) -> Any:
    answer = client.get(f"/backtests/{code}{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def run(client: httpx.Client, name: str = "default", **body: Any) -> dict[str, Any]:
    """Start one, let a worker run it, and look at it."""
    code = start(client, name, **body)
    run_backtests()
    found: dict[str, Any] = get(client, code)
    return found
