"""The model that may be asked: one for the whole server, by its environment alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.conf import settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """`url` is the full address; `prices` are micros for a million tokens in and out."""

    url: str
    format: str
    model: str
    # No trace of it where an endpoint is printed.
    key: str | None = field(repr=False)
    timeout_s: float
    prices: tuple[int, int] | None

    def compute_cost(self, tokens_in: int, tokens_out: int) -> int | None:
        """Rounded up; None where no prices are known, which is not the same as free."""
        if self.prices is None:
            return None
        price_in, price_out = self.prices
        return -(-(tokens_in * price_in + tokens_out * price_out) // 1_000_000)


def get_endpoint() -> Endpoint | None:
    """None: nobody is to be asked, and whatever depends on an answer does not pass."""
    return None if settings.LLM is None else Endpoint(**settings.LLM)
