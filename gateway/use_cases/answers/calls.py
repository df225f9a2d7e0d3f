"""How a judged call is answered, and what its review is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.use_cases.review_links import build_review_reference
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict
from reviews.agent_notes.selectors import Note

# So much of a call stands in the title of its review.
TITLE_WORDS = 80


def build_title(verdict: CallVerdict, finding: CallFinding) -> str:
    """What tells this call from the others that wait: its own words first."""
    quoted = finding.details.get("text") or verdict.shown.get("command") or verdict.tool
    words = " ".join(str(quoted).split())
    shown = words if len(words) <= TITLE_WORDS else words[: TITLE_WORDS - 1] + "…"
    return f"{shown}: {finding.message}"


def build_call_answer(
    *,
    run: str,
    project_slug: str,
    payload: dict[str, Any],
    receipt: dict[str, Any],
    notes: Sequence[Note] = (),
) -> dict[str, Any]:
    """The answer to a call, from the stored entries alone: the same for ever."""
    grant = payload["grant"]
    return {
        "id": payload["call"],
        "run": run,
        "decision": payload["decision"],
        "findings": payload["findings"],
        "digest": payload["digest"],
        "review": build_review_reference(payload["review"], project_slug=project_slug),
        "grant": grant["id"] if grant else None,
        "grant_expires_at": grant["expires_at"] if grant else None,
        "replayed": False,
        "output": None,
        "budget_remaining": payload["budget_remaining"],
        "preview": payload["preview"],
        "policy": payload["policy"],
        "notes": [*notes],
        "receipt": receipt,
    }
