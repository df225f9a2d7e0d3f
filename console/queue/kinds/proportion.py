"""How much a ruling asks of a person, by how severe the review is.

Low and medium take one key. High takes a second press, by key or by mouse, and a reason
to deny. Critical takes a written reason, whatever is decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from console.queue.kinds.base import Button
from guidance.core.reviews.care import needs_reason
from reviews.models import Severity


def fit_buttons(buttons: Iterable[Button], severity: str) -> list[Button]:
    return [_fit_button(button, severity) for button in buttons]


def _fit_button(button: Button, severity: str) -> Button:
    if needs_reason(button.action, severity):
        why = f"This is {severity}: write why, then press {button.label} again."
        return replace(button, needs_note=True, why=why)
    if severity == Severity.HIGH:
        verb = button.label.lower()
        return replace(button, twice=f"This is high: press again to {verb}.")
    return button
