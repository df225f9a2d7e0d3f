"""What a backtest found, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# How a ruling reads after "people".
_RULED = {
    "approve": "approved",
    "skip": "skipped",
    "deny": "denied",
    "abort": "ended the run for",
    "amend": "changed",
    "retry": "had tried again",
    "answer": "answered",
    "no_ruling": "did not rule on",
}


def describe_result(result: Mapping[str, Any]) -> list[str]:
    """The result first, then what people think of it, then what nobody can say."""
    return list(_list_sentences(result))


def _list_sentences(result: Mapping[str, Any]) -> Iterator[str]:
    judged, changed = result["judged"], result["changed"]
    if not judged:
        yield "No stored decision could be judged."
    elif not changed:
        yield f"Nothing changes: {_count(judged, 'decision')} as before."
    else:
        yield (
            f"{changed:,} of {_count(judged, 'decision')} would come out differently, in "
            f"{_count(result['runs_changed'], 'run')}."
        )
        yield from _list_opinions(result["agrees_with_people"])
    if result["unknown"]:
        reasons = ", ".join(
            f"{reason} ({count:,})"
            for reason, count in result["unknown_reasons"].items()
        )
        yield f"{result['unknown']:,} cannot be judged: {reasons}."


def _list_opinions(agreement: Mapping[str, Any]) -> Iterator[str]:
    more, less = agreement["asked_more"], agreement["asked_less"]
    if more["total"]:
        yield (
            f"It asks people in {_count(more.get('runs', 0), 'more run')}, "
            f"{_count(more['total'], 'case')}, "
            f"{more['run_aborted']:,} of them in runs that a person later aborted."
        )
    if less["total"]:
        said = ", ".join(
            f"{_RULED.get(ruling, ruling)} {count:,}"
            for ruling, count in less.items()
            if ruling != "total"
        )
        cases = _count(less["total"], "case")
        yield f"It no longer asks in {cases}; of those people {said}."
    yield (
        f"People's rulings agree with {agreement['agree']:,} of the changes, disagree "
        f"with {agreement['disagree']:,}, and say nothing about "
        f"{agreement['silent']:,}."
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
