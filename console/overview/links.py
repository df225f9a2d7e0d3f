"""Addresses of the lists behind the figures: each number opens what adds up to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from urllib.parse import urlencode

from django.urls import reverse

from console.overview.period import Period

_PLAIN = re.compile(r'[^\s",]+')


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    slug: str
    manages: bool = False

    def list_runs(
        self,
        *,
        period: Period | None = None,
        sort: str = "",
        **asked: str | Sequence[str],
    ) -> str:
        """Runs by the words of the list's query, such as `status` or `agent`, that began in
        the period."""
        if period is not None:
            asked["since"] = _format_moment(period.since, period)
        words = [f"{name}:{_write(value)}" for name, value in asked.items() if value]
        return self._build("console:runs", q=" ".join(words), sort=sort)

    def list_runs_of(self, period: Period, place: int) -> str:
        """Those that began in one hour or day of it."""
        begin = period.buckets[place]
        # A day counts to its end, a moment does not.
        end = begin + period.size if period.is_hourly else begin
        return self.list_runs(
            since=_format_moment(begin, period), until=_format_moment(end, period)
        )

    def list_rulings(
        self, *, period: Period, sort: str = "", **asked: str | Sequence[str]
    ) -> str:
        """The list knows the same periods by the same names."""
        return self._build("console:rulings", period=period.name, sort=sort, **asked)

    def open_queue(self, **asked: str) -> str:
        return self._build("console:queue", **asked)

    def open_permissions(self) -> str:
        return self._build("console:permissions")

    def open_limits(self) -> str:
        return self._build("console:limits")

    def raise_limit(self, scope: str, agent: str) -> str:
        return self._build("console:limit-raise", scope=scope, agent=agent)

    def halt_at_limit(self, scope: str, agent: str) -> str:
        return self._build("console:limit-halt", scope=scope, agent=agent)

    def open_ledger(self) -> str:
        return self._build("console:ledger")

    def open_webhooks(self) -> str:
        """Managers alone see them."""
        return self._build("console:webhooks") if self.manages else ""

    def _build(self, name: str, **query: str | Sequence[str]) -> str:
        address = _find_address(name, self.slug)
        query = {key: value for key, value in query.items() if value}
        return f"{address}?{urlencode(query, doseq=True)}" if query else address


@lru_cache(maxsize=1_000)
def _find_address(name: str, slug: str) -> str:
    """Kept: a page has hundreds of links to the same few lists."""
    return reverse(name, args=[slug])


def _write(value: str | Sequence[str]) -> str:
    """Several values mean any of them; a name with a space or a comma is quoted."""
    if not isinstance(value, str):
        return ",".join(value)
    return value if _PLAIN.fullmatch(value) else '"' + value.replace('"', "") + '"'


def _format_moment(moment: datetime, period: Period) -> str:
    return f"{moment:%Y-%m-%dT%H:%MZ}" if period.is_hourly else f"{moment:%Y-%m-%d}"
