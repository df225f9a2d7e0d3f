"""How a judged call is answered, and what its review is called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from common.responses import to_json
from gateway.use_cases.review_links import build_review_reference
from guidance.core.canonical import to_canonical_json
from guidance.core.jcs import to_jcs
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict
from guidance.selectors import LoadedPolicy
from ledger.chain import SealedEntry
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


def write_call_answer(
    *,
    run: str,
    project_slug: str,
    payload: dict[str, Any],
    policy: LoadedPolicy,
    entry: SealedEntry,
    notes: Sequence[Note] = (),
) -> str:
    """The same text from what the entry was written from: to read it again and to write
    it as an object takes four times as long (bench: tool calls)."""
    grant, review = payload["grant"], payload["review"]
    reference = build_review_reference(review, project_slug=project_slug)
    granted = f'"{grant["id"]}"' if grant else "null"
    expires = f'"{grant["expires_at"]}"' if grant else "null"
    return (
        f'{{"id":"{payload["call"]}","run":"{run}","decision":"{payload["decision"]}",'
        f'"findings":{_write_as_stored(payload["findings"])},'
        f'"digest":"{payload["digest"]}",'
        f'"review":{to_json(reference) if reference else "null"},'
        f'"grant":{granted},"grant_expires_at":{expires},'
        f'"replayed":false,"output":null,'
        f'"budget_remaining":{to_canonical_json(payload["budget_remaining"])},'
        f'"preview":{_write_as_stored(payload["preview"])},'
        f'"policy":{policy.stamp},'
        f'"notes":{to_json([*notes]) if notes else "[]"},'
        f'"receipt":{{"seq":{entry.seq},"hash":"{entry.hash}"}}}}'
    )


def _write_as_stored(part: object) -> str:
    """As an answer writes what it has read of an entry."""
    if not part:
        return "null" if part is None else "[]"
    return to_json(json.loads(to_jcs(part)))
