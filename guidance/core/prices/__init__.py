"""What models cost, as a policy says it, and what tokens cost by that."""

from __future__ import annotations

from guidance.core.prices.section import ModelPrice, ModelTokens, Prices

__all__ = ["ModelPrice", "ModelTokens", "Prices"]
