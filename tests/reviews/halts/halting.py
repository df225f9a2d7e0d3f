"""Halt something as a reviewer, and release it as a manager."""

from __future__ import annotations

from typing import Any

import httpx

PROJECT = {"project": True}


def halt(
    client: httpx.Client, scope: dict[str, Any] | None = None, reason: str = "Look"
) -> dict[str, Any]:
    body = {"scope": scope or PROJECT, "reason": reason}
    answer = client.post("/halts", json=body)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def release(
    client: httpx.Client, made: dict[str, Any], reason: str = "Fine", **more: Any
) -> dict[str, Any]:
    body = {"reason": reason, **more}
    answer = client.request("DELETE", f"/halts/{made['id']}", json=body)
    assert answer.status_code == 200, answer.text
    released: dict[str, Any] = answer.json()
    return released
