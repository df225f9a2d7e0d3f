"""How often people ruled otherwise: than the agent asked, and than a model had answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.utils.safestring import SafeString

from console.charts.bars import draw_split_bar
from console.format import format_count
from console.overview.changes import Change, compare_points
from console.overview.figures import Count
from console.overview.headline import format_share
from console.overview.links import Links
from console.overview.period import Period
from reviews.models import Kind
from reviews.statistics.attention import (
    ModelAgreement,
    build_gate_agreement,
    build_model_agreement,
)


class Part(NamedTuple):
    """`share` of the calls that were ruled on."""

    name: str
    share: str
    about: str
    href: str


class ModelRow(NamedTuple):
    name: str
    total: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DisagreementCard:
    """`parts` and `model_rows` are empty where there is nothing to compare."""

    share: str
    ruled: str
    change: Change
    parts: tuple[Part, ...]
    bar: SafeString
    model_rows: tuple[ModelRow, ...]
    model_share: str
    model_compared: str
    href: str


def build_disagreement_card(
    ruled: Sequence[Count], compared: Sequence[Count], *, period: Period, links: Links
) -> DisagreementCard:
    gates = build_gate_agreement({each.key: each.now for each in ruled})
    before = build_gate_agreement({each.key: each.before for each in ruled})
    model = build_model_agreement({each.key: each.now for each in compared})
    kind = Kind.CONFIRMATION.value
    parts = (
        ("approved as asked", gates.approved, ("approve",)),
        ("changed", gates.changed, ("amend",)),
        ("denied", gates.denied, ("deny", "abort")),
    )
    return DisagreementCard(
        share=format_share(gates.share),
        ruled=format_count(gates.ruled, "call"),
        change=compare_points(gates.share, before.share),
        parts=tuple(
            Part(
                name=name,
                share=format_share(number / gates.ruled),
                about=format_count(number, "call"),
                href=links.list_rulings(period=period, kind=kind, action=actions),
            )
            for name, number, actions in parts
            if gates.ruled
        ),
        bar=draw_split_bar(
            [
                ("go", gates.approved),
                ("accent", gates.changed),
                ("stop", gates.denied),
            ],
            height=8,
        ),
        model_rows=tuple(_list_model_rows(model)),
        model_share=format_share(model.share),
        model_compared=f"{model.compared:,}",
        href=links.list_rulings(period=period, kind=kind),
    )


def _list_model_rows(model: ModelAgreement) -> list[ModelRow]:
    """What it would have let through comes first: that is what must not happen."""
    if not model.compared:
        return []
    same = model.compared - model.too_lenient - model.too_strict
    return [
        ModelRow(
            "Model would allow, person did not",
            f"{model.too_lenient:,}",
            "stop" if model.too_lenient else "",
        ),
        ModelRow("Model would deny, person approved", f"{model.too_strict:,}", ""),
        ModelRow("Both the same", f"{same:,}", ""),
    ]
