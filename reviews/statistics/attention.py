"""How much of people's attention agents took: how often they were asked, what needed no
look of theirs, and how often they ruled otherwise than asked or than a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledger.statistics.periods import Scope
from ledger.statistics.selectors import read_counts, read_totals
from reviews.models import Kind
from reviews.statistics.counts import (
    BY_MODEL,
    BY_PERMISSION,
    BY_PLAN,
    FOLDED,
    NOT_ASKED,
    RULED,
)

# Rulings on calls of which a model had said what it would do, unseen by the person. Counted
# by the app that asks models (`gateway.first_looks`).
COMPARED = "model_compared"
# What spares people a look, in the order in which it is told.
SPARED = (BY_PERMISSION, BY_PLAN, BY_MODEL, FOLDED)
_ALLOWED, _REFUSED = "allowed", "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAgreement:
    """Calls that were put before a person: let through as they stood, changed, or denied
    (with the run or without)."""

    approved: int
    changed: int
    denied: int

    @property
    def ruled(self) -> int:
        return self.approved + self.changed + self.denied

    @property
    def share(self) -> float | None:
        """Of those that did not stay as they were; None where nothing was ruled."""
        return (self.changed + self.denied) / self.ruled if self.ruled else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAgreement:
    """Calls that a model had answered unseen. `too_lenient` it would have allowed and a
    person did not, `too_strict` it would have denied and a person approved."""

    compared: int
    too_lenient: int
    too_strict: int

    @property
    def share(self) -> float | None:
        differed = self.too_lenient + self.too_strict
        return differed / self.compared if self.compared else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """`not_asked` has a number for each of SPARED."""

    reviews: int
    running_hours: float
    not_asked: Mapping[str, int]
    gates: GateAgreement
    model: ModelAgreement

    @property
    def per_hour(self) -> float | None:
        """None where nothing was running."""
        return self.reviews / self.running_hours if self.running_hours else None


def build_compared_key(*, answer: str, allowed: bool) -> str:
    return f"{answer}:{_ALLOWED if allowed else _REFUSED}"


def read_attention(*, scope: Scope) -> Attention:
    totals = read_totals(scope=scope)
    spared = read_counts(scope=scope, kind=NOT_ASKED)
    return Attention(
        reviews=totals.reviews_opened,
        running_hours=totals.running_hours,
        not_asked={name: spared.get(name, 0) for name in SPARED},
        gates=build_gate_agreement(read_counts(scope=scope, kind=RULED)),
        model=build_model_agreement(read_counts(scope=scope, kind=COMPARED)),
    )


def build_gate_agreement(ruled: Mapping[str, int]) -> GateAgreement:
    """By what was counted under RULED."""

    def count(action: str) -> int:
        return ruled.get(f"{Kind.CONFIRMATION.value}:{action}", 0)

    return GateAgreement(
        approved=count("approve"),
        changed=count("amend"),
        denied=count("deny") + count("abort"),
    )


def build_model_agreement(compared: Mapping[str, int]) -> ModelAgreement:
    """By what was counted under COMPARED."""
    return ModelAgreement(
        compared=sum(compared.values()),
        too_lenient=compared.get(build_compared_key(answer="allow", allowed=False), 0),
        too_strict=compared.get(build_compared_key(answer="deny", allowed=True), 0),
    )
