"""An agent whose tokens, cost and time are reported from what its model library gives."""

from __future__ import annotations

from typing import Any

from checkrail import Checkrail

MODEL = "scripted-model"


def ask_model(question: str) -> dict[str, Any]:
    """As a library answers: an object or plain JSON, with the usage of the request."""
    return {
        "model": f"{MODEL}-2026-10-01",
        "text": f"An answer to: {question}",
        "usage": {
            "input_tokens": 310,
            "output_tokens": 120,
            "cache_read_input_tokens": 4_800,
            "cache_creation_input_tokens": 0,
        },
    }


with Checkrail().run("Answer two questions", model=MODEL) as run:
    for question in ("What is slow?", "What is left to do?"):
        response = ask_model(question)
        decision = run.step(usage=response, summary=response["text"])
    left = decision.metrics.budget_remaining
    print(left.tokens, "tokens and", left.cost_usd, "dollars are left")
