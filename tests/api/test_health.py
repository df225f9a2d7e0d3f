"""GET /healthz and /readyz, with and without the base path, open to everybody."""

from __future__ import annotations

import httpx
import pytest
from django.utils import timezone

from config.models import Heartbeat
from tests.live import Live


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/healthz"])
def test_the_process_is_up(live: Live, path: str) -> None:
    answer = httpx.get(live.url + path)

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}
    assert "no-store" in answer.headers["cache-control"]


@pytest.mark.parametrize("path", ["/readyz", "/api/v1/readyz"])
def test_readiness_names_what_is_missing(live: Live, path: str) -> None:
    Heartbeat.objects.filter(name=Heartbeat.WORKER).delete()

    missing = httpx.get(live.url + path)

    assert missing.status_code == 503
    assert int(missing.headers["retry-after"]) > 0
    checks = missing.json()["checks"]
    assert set(checks) == {"database", "broker", "workers"}
    assert checks["database"] == "ok"
    assert checks["workers"] != "ok"

    Heartbeat.objects.create(name=Heartbeat.WORKER, at=timezone.now())
    ready = httpx.get(live.url + path)
    assert ready.status_code == 200, ready.text
    assert set(ready.json()["checks"].values()) == {"ok"}
