"""The parameters of `GET /runs` as a filter."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from uuid import UUID

from common.ids import parse_code
from common.paging import build_parameter_error
from guidance.core.money import parse_usd
from guidance.core.vocabulary import INTENTS
from ledger.run_list.filter import Bound, Label, RunFilter
from ledger.run_list.paging import NEWEST_FIRST, Sort, parse_sort
from ledger.schemas import ACCEPTED, STATUS_FILTERS, RunExportFilters

# The id of no run: what nobody can have started.
_NOBODY = UUID(int=0)


def build_sort(filters: RunExportFilters) -> Sort:
    return parse_sort(filters.sort) or NEWEST_FIRST


def build_filter(filters: RunExportFilters) -> RunFilter:
    since, until = filters.since, filters.until
    if since is not None and until is not None and since >= until:
        raise build_parameter_error("since", "must be before until")
    labels = tuple(_parse_label(each) for each in filters.label)
    return RunFilter(
        statuses=tuple(
            status
            for word in _check_one_of("status", filters.status, STATUS_FILTERS)
            for status in STATUS_FILTERS[word]
        ),
        agents=tuple(filters.agent),
        models=tuple(filters.model),
        intents=_check_one_of("intent", filters.intent, INTENTS),
        policies=tuple(map(parse_policy, filters.policy)),
        labels=(labels,) if labels else (),
        parents=tuple(parse_code(each) or _NOBODY for each in filters.parent),
        accepted=tuple(
            ACCEPTED[word]
            for word in _check_one_of("accepted", filters.accepted, ACCEPTED)
        ),
        bounds=_list_bounds(filters.min_cost),
        since=since,
        until=until,
        texts=(filters.q.strip(),) if filters.q and filters.q.strip() else (),
    )


def parse_policy(text: str) -> tuple[str, int | None]:
    """`default`, or `default@3` for one version of it."""
    name, at, version = text.rpartition("@")
    if at and name and version.isascii() and version.isdigit() and len(version) < 10:
        return name, int(version)
    return text, None


def _check_one_of(
    name: str, given: Iterable[str], allowed: Collection[str]
) -> tuple[str, ...]:
    for value in given:
        if value not in allowed:
            raise build_parameter_error(name, f"one of {', '.join(allowed)}")
    return tuple(given)


def _parse_label(text: str) -> Label:
    name, colon, value = text.partition(":")
    if not colon or not name:
        raise build_parameter_error("label", "must be name:value")
    return name, value


def _list_bounds(min_cost: str | None) -> tuple[Bound, ...]:
    if min_cost is None:
        return ()
    return (Bound(figure="cost", operator=">=", value=parse_usd(min_cost)),)
