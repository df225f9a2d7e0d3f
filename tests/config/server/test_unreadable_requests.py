"""Requests that no page can read, which anybody may send, fill no log."""

from __future__ import annotations

import logging

import httpx
import pytest

from config.logging import OneLineFormatter
from tests.support.live import Live


def check_log(caplog: pytest.LogCaptureFixture) -> None:
    """One short line about the last request, and nothing else."""
    ours = [one for one in caplog.records if one.name.startswith("django")]
    lines = list(map(OneLineFormatter().format, ours))
    assert len(lines) == 1
    assert "Traceback" not in lines[0]
    assert len(lines[0]) < 300
    assert ours[0].levelno == logging.WARNING


def test_a_wrong_host_is_one_short_line_in_the_log(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    for host in ("evil.example", "evil.example\t" + "x" * 5_000, "a@b", ""):
        caplog.clear()
        answer = httpx.get(f"{live.url}/sign-in/", headers={"Host": host})

        assert answer.status_code == 400
        check_log(caplog)


def test_too_many_fields_are_a_plain_400_and_one_short_line_in_the_log(
    live: Live, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answer = httpx.get(f"{live.url}/sign-in/?{'a&' * 1_001}")

    assert answer.status_code == 400
    assert "<h1>Bad request</h1>" in answer.text
    check_log(caplog)
