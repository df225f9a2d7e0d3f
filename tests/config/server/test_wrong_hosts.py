"""Whoever asks for a host that is not served here fills no log."""

from __future__ import annotations

import logging

import httpx
import pytest

from config.logging import OneLineFormatter
from tests.support.live import Live


def test_a_wrong_host_is_one_short_line_in_the_log(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for host in ("evil.example", "evil.example\t" + "x" * 5_000, "a@b", ""):
        caplog.clear()
        answer = httpx.get(f"{live.url}/sign-in/", headers={"Host": host})

        assert answer.status_code == 400
        ours = [one for one in caplog.records if one.name.startswith("django")]
        lines = list(map(OneLineFormatter().format, ours))
        assert len(lines) == 1
        assert "Traceback" not in lines[0]
        assert len(lines[0]) < 300
        assert ours[0].levelno == logging.WARNING
