"""Why a call was refused, warned about or waits: short enough for a model to act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gateway.coding_agents.mapping import shorten
from guidance.core.canonical import to_canonical_json

Finding = Mapping[str, Any]
TOLD_FINDINGS = 5
REASON_LIMIT = 4_000


def describe_block(findings: Sequence[Finding]) -> str:
    return f"Checkrail blocked this call: {_describe_findings(findings, 'block')}"


def describe_warning(findings: Sequence[Finding]) -> str:
    return f"Checkrail let this call through with a warning: {_describe_findings(findings, 'warn')}"


def describe_wait(review: Mapping[str, Any], findings: Sequence[Finding]) -> str:
    why = _describe_findings(findings, "require-confirmation")
    return (
        f"Checkrail asks a person about this call: {why} Nobody has ruled on it yet: "
        f"{review['url']}"
    )


def describe_denial(ruling: Mapping[str, Any]) -> str:
    note = f": {ruling['note']}" if ruling["note"] else "."
    return _cut(f"{ruling['by']} denied this call{note}")


def quote_note(ruling: Mapping[str, Any]) -> str:
    """Quote what a person wrote, so that the model takes it for nothing else."""
    return _quote(ruling["by"], ruling["note"])


def quote_agent_note(note: Mapping[str, Any]) -> str:
    """What a person told the agent while it worked."""
    tags = f" ({', '.join(note['tags'])})" if note["tags"] else ""
    return f"Note{tags}: {_quote(note['by'], note['text'])}"


def _quote(by: str, text: str) -> str:
    words = json.dumps(text, ensure_ascii=False)
    return _cut(f"{by}, a reviewer, wrote: {words}")


def describe_change(ruling: Mapping[str, Any], granted: Mapping[str, Any]) -> str:
    """Where the host takes no changed input, the agent is told to send it itself."""
    wanted = to_canonical_json({k: v for k, v in granted.items() if k != "diff_lines"})
    return _cut(f"{ruling['by']} wants this call changed. Send instead: {wanted}")


def describe_approval(ruling: Mapping[str, Any], *, amended: bool) -> str:
    """For whoever sits at the terminal; the model reads notes as a context."""
    what = "approved this call with changes" if amended else "approved this call"
    note = f": {ruling['note']}" if ruling["note"] else "."
    return _cut(f"{ruling['by']} {what}{note}")


def describe_amendment(given: Mapping[str, Any], updated: Mapping[str, Any]) -> str:
    """Say what runs in place of what the model sent, which its transcript still holds."""
    names = [
        name for name in {**given, **updated} if given.get(name) != updated.get(name)
    ]
    new, old = (
        _cut_to(
            REASON_LIMIT // 3, to_canonical_json({n: v[n] for n in names if n in v})
        )
        for v in (updated, given)
    )
    return (
        f"Note: a reviewer approved this call with changes. The changed call runs, with "
        f"{new} instead of {old}; do not repeat your own."
    )


def describe_pause(url: str) -> str:
    return f"Checkrail: the run waits for a person. Nobody has ruled on it yet: {url}"


def describe_stop(findings: Sequence[Finding], url: str) -> str:
    return (
        f"Checkrail stopped the run: {_describe_findings(findings, 'stop')} See {url}"
    )


USED_UP = "Checkrail: what allowed this call was used already. Ask again."
CHECKPOINT = (
    "Checkrail: a checkpoint is due. Commit your work now, or save it in another way "
    "that it can be gone back to, then go on."
)
NOTED = "Before you stop: somebody has written to you. Take it into account."
GOVERNED = (
    "Checkrail governs this session. Tool calls are judged before they run: a call may "
    "be refused with a reason, or wait until a person has ruled on it."
)


def _describe_findings(findings: Sequence[Finding], decision: str) -> str:
    """The findings that led to the decision, with what may be done instead."""
    heard = [finding for finding in findings if finding["decision"] == decision]
    parts = []
    for finding in heard[:TOLD_FINDINGS]:
        words = (finding["message"], finding.get("remediation") or "")
        parts += [_end_sentence(text) for text in words if text]
    if len(heard) > TOLD_FINDINGS:
        parts.append(f"And {len(heard) - TOLD_FINDINGS} findings more.")
    return _cut(" ".join(dict.fromkeys(parts)))


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _cut(text: str) -> str:
    return _cut_to(REASON_LIMIT, text)


def _cut_to(limit: int, text: str) -> str:
    return text if len(text) <= limit else shorten(text, limit)
