"""One entry with all that is stored of it: findings, scores, its place in the chain, and the
payload."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from console.format import format_iso, format_span
from console.runs.entries.payload import render_payload
from console.runs.scores import SCORES, ShownScore, list_scores
from ledger.models import Entry, Run
from safetext import make_visible, make_visible_line

_TONES = {
    "stop": "stop",
    "block": "stop",
    "pause": "pause",
    "require-confirmation": "pause",
    "throttle": "slow",
    "warn": "slow",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    gate: str
    decision: str
    tone: str
    message: str
    more: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryDetail:
    """`policy` is empty where nothing was judged; `is_cut` where the payload is too long."""

    seq: int
    head_seq: int
    type: str
    actor: str
    at: str
    hash: str
    prev_hash: str
    payload_sha256: str
    policy: str
    policy_hash: str
    findings: tuple[ShownFinding, ...]
    scores: tuple[ShownScore, ...]
    figures: tuple[tuple[str, str], ...]
    payload: SafeString
    is_cut: bool
    url: str
    timeline_url: str
    before_url: str
    after_url: str


def build_detail(entry: Entry, *, run: Run, slug: str) -> EntryDetail:
    payload = _read_payload(entry.payload)
    verdict = _read_part(payload, "verdict")
    metrics = _read_part(verdict, "metrics")
    policy = _read_part(payload, "policy")
    findings = verdict.get("findings") or payload.get("findings") or ()
    drawn, is_cut = render_payload(payload)
    run_url = reverse("console:run", args=[slug, run.code])
    return EntryDetail(
        seq=entry.seq,
        head_seq=run.head_seq,
        type=entry.type,
        actor=make_visible_line(entry.actor),
        at=format_iso(entry.at),
        hash=entry.hash,
        prev_hash=entry.prev_hash,
        payload_sha256=entry.payload_sha256,
        policy=f"{policy['name']}, version {policy['version']}" if policy else "",
        policy_hash=str(policy.get("hash", "")),
        findings=tuple(_list_findings(findings)),
        scores=list_scores(metrics) if "coherence_source" in metrics else (),
        figures=tuple(_list_figures(metrics)),
        payload=drawn,
        is_cut=is_cut,
        url=_build_url(slug, run, entry.seq),
        timeline_url=f"{run_url}?before={entry.seq + 1}#entry-{entry.seq}",
        before_url=_build_url(slug, run, entry.seq - 1) if entry.seq > 1 else "",
        after_url=(
            _build_url(slug, run, entry.seq + 1) if entry.seq < run.head_seq else ""
        ),
    )


def _build_url(slug: str, run: Run, seq: int) -> str:
    return reverse("console:run-entry", args=[slug, run.code, seq])


def _read_payload(text: str) -> dict[str, Any]:
    """One that was changed past the server may be anything."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {"unreadable": text}
    return found if isinstance(found, dict) else {"unreadable": found}


def _read_part(whole: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = whole.get(name)
    return found if isinstance(found, dict) else {}


def _list_findings(findings: Iterable[Mapping[str, Any]]) -> Iterable[ShownFinding]:
    for each in findings:
        decision = str(each.get("decision", ""))
        yield ShownFinding(
            gate=make_visible_line(str(each.get("gate", ""))),
            decision=decision,
            tone=_TONES.get(decision, ""),
            message=make_visible(str(each.get("message", ""))),
            more=make_visible(str(each.get("remediation") or "")),
        )


def _list_figures(metrics: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """What was measured; scores stand apart."""
    for name, value in metrics.items():
        if name.startswith(tuple(SCORES)) or value in (None, [], {}):
            continue
        words = name.replace("_", " ").capitalize()
        if isinstance(value, dict):
            told = ", ".join(
                _describe_amount(part, each)
                for part, each in value.items()
                if each is not None
            )
        elif isinstance(value, list):
            told = ", ".join(map(str, value))
        else:
            told = _describe_value(value)
        yield words, make_visible_line(told)


def _describe_amount(name: str, value: Any) -> str:
    """A part of a budget with its unit; anything else as it is stored."""
    match name, value:
        case "cost_usd", str():
            return f"${value}"
        case "time_ms", int():
            return format_span(value)
        case "tokens" | "tool_calls", int():
            return f"{value:,} {name.replace('_', ' ')}"
        case _:
            return f"{name.replace('_', ' ')} {_describe_value(value)}"


def _describe_value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
