"""Quality gates as rows of their page: the definition, and what came of its checks."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from console.charts import draw_outcome_bars
from console.format import format_count
from console.gates.criteria import SEVERITY_TONES, ShownCriterion, list_criteria
from reviews.queue.gate_counts import Count, CountedGate
from safetext import make_visible, make_visible_line

# A share of fewer ended checks than these says nothing: they are only counted.
RATE_LEAST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """A gate as its definition says, and its figures, ready to be placed."""

    slug: str
    name: str
    description: str
    severity: str
    tone: str
    mode: str
    criteria: tuple[ShownCriterion, ...]
    guidance: str
    max_attempts: int
    varied: bool
    count: Count
    bars: SafeString

    @property
    def asks(self) -> str:
        """How much it asks for, and how often one may try."""
        criteria = format_count(len(self.criteria), "criterion", "criteria")
        attempts = format_count(self.max_attempts, "attempt")
        said = f"{criteria if self.criteria else 'No criteria'}, {attempts}"
        return f"{said}; includes other definitions of this id" if self.varied else said

    @property
    def passed(self) -> str:
        ended = self.count.ended
        return f"{self.count.passed} of {ended}" if ended else ""

    @property
    def rate(self) -> str:
        ended = self.count.ended
        return f"{100 * self.count.passed // ended} %" if ended >= RATE_LEAST else ""

    @property
    def mean_attempts(self) -> str:
        ended = self.count.ended
        return f"{self.count.verdicts / ended:.1f}" if ended else ""


def build_row(item: CountedGate, *, days: int) -> GateRow:
    gate, count = item.gate, item.count
    return GateRow(
        slug=gate.slug,
        name=make_visible_line(gate.name),
        description=make_visible(gate.description),
        severity=gate.severity,
        tone=SEVERITY_TONES[gate.severity],
        mode=gate.mode,
        criteria=list_criteria(gate),
        guidance=make_visible(gate.guidance).strip(),
        max_attempts=gate.retry.max_attempts,
        varied=item.varied,
        count=count,
        bars=draw_outcome_bars(
            [(passed, failed) for passed, failed in count.bars],
            label=(
                f"{count.passed} passed, {count.unpassed} not passed "
                f"in the last {days} days"
            ),
        ),
    )
