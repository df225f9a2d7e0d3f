"""One decision: what it was made on, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from common.ids import parse_code
from console.format import (
    ShownMoment,
    build_past_moment,
    build_past_moment_or_none,
    format_elapsed,
    format_money,
    render_time,
)
from console.loop.decisions import DecisionRow, build_decision_row
from console.loop.vocabulary import (
    DECIDERS,
    FIELDS,
    OUTCOMES,
    RAILS,
    REPORTED,
    SOURCES,
    Look,
    describe_action,
    get_actor_names,
)
from console.runs.rows import format_short_code
from guidance.core.loop.facts import FIELDS as SNAPSHOT
from ledger.models import Run
from loop.models import Decision, Signal
from safetext import ShownText, make_visible, make_visible_line, show_text

EFFECTS_LIMIT = 20
_LINES_LIMIT = 20
_AGREEMENTS: Mapping[bool | None, tuple[str, str]] = {
    True: ("go", "agrees"),
    False: ("pause", "disagrees"),
    None: ("", "no comparison"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRow:
    """`parts` are what a value is made of; a number has none."""

    name: str
    value: str
    parts: list[str]
    age: str
    at: str
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rail:
    name: str
    message: str
    figures: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedAction:
    """The action that the rules or a model proposed."""

    what: str
    rule: str
    reasoning: str
    parameters: ShownText | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """`verdict` is the tone and word of whether the model agrees with the rules."""

    proposal: ProposedAction | None
    trouble: str
    model: str
    verdict: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionReport:
    look: Look
    said: str
    source: SafeString


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionPage:
    code: str
    what: str
    outcome: Look
    reasoning: str
    trigger: str
    source: SafeString
    took: str
    data: ShownText | None
    snapshot: list[SnapshotRow]
    rails: list[Rail]
    proposal: ProposedAction | None
    event: ShownText | None
    review_url: str
    waits: bool
    shadow: Shadow | None
    report: DecisionReport | None
    cause: DecisionRow | None
    effects: list[DecisionRow]
    decided: ShownMoment
    resolved: ShownMoment | None
    decider: str
    cost: str
    policy: str
    state_hash: str
    run: str
    run_url: str
    seq: int


def get_decision(project_id: int, code: UUID) -> Decision | None:
    decisions = Decision.objects.select_related("run", "policy", "signal__cause")
    return (
        decisions.filter(project_id=project_id, code=code).defer("run__memory").first()
    )


def find_pending_signal(project_id: int, code: UUID) -> Signal | None:
    """The trigger whose decision has this id and is not made yet."""
    signals = Signal.objects.filter(project_id=project_id, decision_code=code)
    return signals.filter(pending=True).first()


def build_decision_page(decision: Decision, *, slug: str, at: datetime) -> DecisionPage:
    signal = decision.signal
    data = json.loads(signal.data)
    effects = (
        Decision.objects.filter(signal__cause=decision).order_by("pk")[:EFFECTS_LIMIT]
        if decision.event != "null"
        else ()
    )
    review = decision.review_id
    return DecisionPage(
        code=str(decision.code),
        what=describe_action(decision.action, decision.kind),
        outcome=OUTCOMES[decision.outcome],
        reasoning=make_visible(decision.reasoning),
        trigger=make_visible_line(signal.type),
        source=format_html(
            "{} · {} {}",
            SOURCES[signal.source],
            get_actor_names([signal.actor])[signal.actor],
            render_time(build_past_moment(signal.received_at, at)),
        ),
        took=_format_span(signal.received_at, decision.decided_at),
        data=_show_json(data) if data else None,
        snapshot=_build_snapshot(
            json.loads(decision.snapshot), decided=decision.decided_at
        ),
        rails=[_build_rail(rail) for rail in json.loads(decision.guardrails)],
        proposal=_build_proposal(json.loads(decision.proposal)),
        event=None
        if decision.event == "null"
        else _show_json(json.loads(decision.event)),
        review_url=reverse("console:review", args=[slug, review]) if review else "",
        waits=decision.outcome == "approval_required",
        shadow=_build_shadow(json.loads(decision.shadow)),
        report=_build_report(decision, slug=slug, at=at),
        cause=build_decision_row(signal.cause, slug=slug, at=at)
        if signal.cause
        else None,
        effects=[build_decision_row(effect, slug=slug, at=at) for effect in effects],
        decided=build_past_moment(decision.decided_at, at),
        resolved=build_past_moment_or_none(decision.resolved_at, at),
        decider=DECIDERS[decision.decider],
        cost=format_money(decision.cost_micros),
        policy=f"{make_visible_line(decision.policy.name)}, version {decision.policy.version}",
        state_hash=decision.state_hash,
        run=format_short_code(decision.run.code),
        run_url=reverse("console:run", args=[slug, decision.run.code]),
        seq=decision.seq,
    )


def _show_json(document: object) -> ShownText:
    return show_text(json.dumps(document, ensure_ascii=False, indent=2))


def _build_snapshot(
    document: Mapping[str, Any], *, decided: datetime
) -> list[SnapshotRow]:
    return [
        _build_snapshot_row(name, document[name], decided=decided) for name in SNAPSHOT
    ]


def _build_snapshot_row(
    name: str, field: Mapping[str, Any], *, decided: datetime
) -> SnapshotRow:
    read = datetime.fromisoformat(field["at"])
    value, parts = _format_value(field["value"])
    return SnapshotRow(
        name=FIELDS[name],
        value=value,
        parts=parts,
        age=_format_span(read, decided),
        at=field["at"],
        stale=field["stale"],
    )


def _format_value(value: Any) -> tuple[str, list[str]]:
    if isinstance(value, Mapping):
        parts = [f"{count} {_humanize(name)}" for name, count in value.items() if count]
        return str(sum(value.values())), parts
    if isinstance(value, list):
        return str(len(value)), [
            _format_log_entry(entry) for entry in value[:_LINES_LIMIT]
        ]
    return make_visible_line(str(value)), []


def _format_log_entry(entry: Mapping[str, Any]) -> str:
    said = f": {entry['said']}" if entry.get("said") else ""
    return make_visible_line(
        f"{entry['type']} · {entry.get('agent', '')}{said}", limit=240
    )


def _build_rail(rail: Mapping[str, Any]) -> Rail:
    value, limit = rail["value"], rail["limit"]
    parts = [] if value is None else [make_visible_line(str(value), limit=80)]
    if limit is not None:
        parts.append(f"limit {make_visible_line(str(limit), limit=80)}")
    return Rail(
        name=RAILS.get(rail["rail"], _humanize(rail["rail"])),
        message=make_visible_line(rail["message"]),
        figures=", ".join(parts),
    )


def _build_proposal(proposal: Mapping[str, Any] | None) -> ProposedAction | None:
    if proposal is None:
        return None
    parameters = proposal["parameters"]
    return ProposedAction(
        what=_describe_action(proposal),
        rule=make_visible_line(proposal["rule"]),
        reasoning=make_visible(proposal["reasoning"]),
        parameters=_show_json(parameters) if parameters else None,
    )


def _describe_action(proposal: Mapping[str, Any]) -> str:
    """A model may propose an action that does not exist."""
    try:
        return describe_action(proposal["action"], proposal["kind"] or "")
    except KeyError:
        return make_visible_line(str(proposal["action"]), limit=80)


def _build_shadow(document: Mapping[str, Any] | None) -> Shadow | None:
    if document is None:
        return None
    return Shadow(
        proposal=_build_proposal(document["proposal"]),
        trouble=make_visible_line(document["trouble"] or ""),
        model=make_visible_line(document["model"]),
        verdict=_AGREEMENTS[document["agrees"]],
    )


def _build_report(
    decision: Decision, *, slug: str, at: datetime
) -> DecisionReport | None:
    """A run is linked only where it is one of this project's."""
    document: Mapping[str, Any] | None = json.loads(decision.report)
    if document is None:
        return None
    run = str(document.get("run") or "")
    url = _find_run_url(decision.project_id, run, slug=slug)
    link = format_html(
        ' by the run <a class="c-accent mono" href="{}">{}</a>',
        url,
        make_visible_line(run, limit=40),
    )
    when = build_past_moment_or_none(decision.reported_at, at)
    return DecisionReport(
        look=REPORTED[decision.reported],
        said=make_visible(str(document.get("summary") or document.get("said") or "")),
        source=format_html(
            "Reported {}{}", render_time(when) if when else "", link if url else ""
        ),
    )


def _find_run_url(project_id: int, run: str, *, slug: str) -> str:
    code = parse_code(run)
    if (
        code is None
        or not Run.objects.filter(project_id=project_id, code=code).exists()
    ):
        return ""
    return reverse("console:run", args=[slug, code])


def _format_span(start: datetime, end: datetime) -> str:
    return format_elapsed(max(0, int((end - start).total_seconds() * 1000)))


def _humanize(name: str) -> str:
    return name.replace("_", " ")
