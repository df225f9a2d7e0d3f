"""Addresses of lists: in the words that those lists take."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from console.overview.links import Links
from console.overview.period import read_period
from console.runs.query.parse import parse_query

NOW = datetime(2026, 11, 17, 14, 32, tzinfo=UTC)
LINKS = Links(slug="shop")


def read_line(address: str) -> str:
    (line,) = parse_qs(urlsplit(address).query)["q"]
    assert parse_query(line).errors == (), line
    return line


def test_runs_by_status_agent_and_period() -> None:
    period = read_period("30d", NOW)
    assert (
        read_line(
            LINKS.list_runs(
                period=period, agent="my agent", status=("failed", "aborted")
            )
        )
        == 'agent:"my agent" status:failed,aborted since:2026-10-19'
    )
    assert read_line(LINKS.list_runs(agent='a,"b')) == 'agent:"a,b"'
    assert read_line(LINKS.list_runs(accepted="yes")) == "accepted:yes"


def test_runs_of_one_day_or_hour() -> None:
    days, hours = read_period("7d", NOW), read_period("24h", NOW)
    assert read_line(LINKS.list_runs_of(days, 6)) == "since:2026-11-17 until:2026-11-17"
    assert (
        read_line(LINKS.list_runs_of(hours, 23))
        == "since:2026-11-17T14:00Z until:2026-11-17T15:00Z"
    )


def test_what_only_managers_see_has_no_address_for_others() -> None:
    assert LINKS.open_webhooks() == ""
    assert Links(slug="shop", manages=True).open_webhooks() == "/p/shop/webhooks/"
