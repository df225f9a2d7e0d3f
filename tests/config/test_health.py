"""GET /healthz and /readyz, with and without the base path, open to everybody."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from config.health.api import SILENCE_LIMIT
from config.models import Heartbeat
from tests.support.live import Live


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


def test_a_worker_that_has_fallen_silent_is_told(live: Live) -> None:
    def told(seconds: int) -> tuple[int, str]:
        at = timezone.now() - timedelta(seconds=seconds)
        Heartbeat.objects.update_or_create(name=Heartbeat.WORKER, defaults={"at": at})
        answer = httpx.get(f"{live.url}/readyz")
        return answer.status_code, answer.json()["checks"]["workers"]

    assert told(0) == (200, "ok")
    assert told(SILENCE_LIMIT - 10) == (200, "ok")
    status, words = told(SILENCE_LIMIT + 1)
    assert status == 503
    assert words.startswith(f"no worker for {SILENCE_LIMIT + 1}"[:-1])
    assert told(7 * 86_400)[0] == 503
    Heartbeat.objects.update(at=timezone.now())
