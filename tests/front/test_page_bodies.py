"""Outside /api/, too, nobody sends more than a form needs."""

from __future__ import annotations

import httpx

from tests.live import Live

LIMIT = 1_048_576


def test_a_huge_form_is_refused_by_its_length(live: Live) -> None:
    answer = httpx.post(f"{live.url}/sign-in/", content=b"x" * (LIMIT + 1))
    assert answer.status_code == 413
    assert answer.headers["connection"] == "close"


def test_a_huge_form_without_a_length_is_cut_off(live: Live) -> None:
    chunks = (b"x" * 65_536 for _ in range(LIMIT // 65_536 + 2))
    answer = httpx.post(f"{live.url}/sign-in/", content=chunks)
    assert answer.status_code == 413
