"""The health of a project's ledger: the last check, those before it, and what was exported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from accounts.models import Agent, User
from console.format import format_count, format_iso, format_seconds
from console.runs.proof import TO_DO, describe_break, shorten_hash
from console.runs.rows import format_short_code
from ledger.jobs.models import JobState
from ledger.models import LedgerExport, ProjectVerification
from ledger.verification.project import read_findings
from ledger.verification.whole import Findings
from safetext import make_visible_line

CHECKS = 10
EXPORTS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenRun:
    code: str
    short: str
    url: str
    seq: int
    reason: str
    means: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCheck:
    """One check of the whole ledger. `share` is how far it came, in per cent."""

    running: bool
    tone: str
    icon: str
    head: str
    text: str
    by: str
    at: str
    took: str
    share: float
    progress: str
    faults: tuple[str, ...]
    broken: tuple[BrokenRun, ...]
    unnamed: int
    to_do: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownExport:
    at: str
    by: str
    short: str
    url: str
    entries: str
    head: str


def list_checks(project_id: int) -> list[ProjectVerification]:
    """The newest first; one that runs is the first."""
    rows = ProjectVerification.objects.filter(project_id=project_id)
    return list(rows.select_related("by").order_by("-pk")[:CHECKS])


def build_check(job: ProjectVerification, *, slug: str, at: datetime) -> ShownCheck:
    found = read_findings(job)
    running = not job.ended
    tone, icon, head, text = _describe(job, found)
    began = job.started_at or job.created_at
    return ShownCheck(
        running=running,
        tone=tone,
        icon=icon,
        head=head,
        text=text,
        by=make_visible_line(job.by.display_name) if job.by else "the daily check",
        at=format_iso(job.ended_at or began),
        took=format_seconds(((job.ended_at or at) - began).total_seconds()),
        share=100 * min(job.done / job.total, 1.0) if job.total else 0.0,
        progress=f"{job.done:,} of {format_count(job.total, 'entry', 'entries')}",
        faults=tuple(_describe_faults(found)),
        broken=tuple(_build_broken(each, slug=slug) for each in found.named),
        unnamed=found.broken - len(found.named),
        to_do=() if found.is_whole else TO_DO,
    )


def _describe(job: ProjectVerification, found: Findings) -> tuple[str, str, str, str]:
    entries = format_count(found.entries, "entry", "entries")
    runs = format_count(found.runs, "run")
    if not found.is_whole:
        parts = [format_count(found.broken, "broken run")] if found.broken else []
        if found.missing:
            parts.append("entries are missing")
        if found.differing:
            parts.append("what runs used together does not add up")
        if found.unprotected:
            parts.append("the database does not refuse changes")
        return "stop", "unpassed", "Ledger broken", f"{', '.join(parts)}."
    if job.state == JobState.FINISHED:
        text = (
            f"All {entries} of {runs} match, no position is missing, every row beside the "
            "chains says the same, and the database refuses changes."
        )
        if found.resumed:
            text += " What runs used together was not added up: a process ended midway."
        return "go", "shield", "Ledger whole", text
    if job.state == JobState.FAILED:
        reason = make_visible_line(job.reason, limit=300)
        return "pause", "alert", "The check did not finish", reason
    if job.state == JobState.WAITING:
        return "mute", "clock", "About to be checked", "A worker takes it in a moment."
    text = make_visible_line(job.reason) or f"{entries} of {runs} match so far."
    return "mute", "loop", "Being checked", text


def _describe_faults(found: Findings) -> Iterable[str]:
    for each in found.missing:
        yield f"Missing. {make_visible_line(each)}."
    for each in found.differing:
        yield f"Differs: {make_visible_line(each)}."
    for each in found.unprotected:
        yield (
            f"Not protected. {make_visible_line(each)}. Put it back: "
            "python manage.py ledger_protect"
        )


def _build_broken(found: dict[str, object], *, slug: str) -> BrokenRun:
    code, seq = str(found["run"]), found["seq"]
    number = seq if isinstance(seq, int) else 0
    return BrokenRun(
        code=code,
        short=format_short_code(UUID(code)),
        url=reverse("console:run", args=[slug, code]),
        seq=number,
        reason=make_visible_line(str(found["reason"] or ""), limit=300),
        means=describe_break(number),
    )


def list_exports(project_id: int, *, before: int | None) -> list[LedgerExport]:
    """The newest first, one more than a page."""
    rows = LedgerExport.objects.filter(project_id=project_id).select_related("run")
    if before is not None:
        rows = rows.filter(pk__lt=before)
    return list(rows.defer("run__memory").order_by("-pk")[: EXPORTS + 1])


def build_exports(rows: list[LedgerExport], *, slug: str) -> list[ShownExport]:
    names = _get_names({row.actor for row in rows})
    return [
        ShownExport(
            at=format_iso(row.at),
            by=names.get(row.actor, row.actor),
            short=format_short_code(row.run.code),
            url=reverse("console:run", args=[slug, row.run.code]),
            entries=format_count(row.head_seq, "entry", "entries"),
            head=shorten_hash(row.head_hash),
        )
        for row in rows
    ]


def _get_names(actors: set[str]) -> dict[str, str]:
    """What to call each: "user:<code>" is a person, "agent:<code>" an agent."""
    codes: dict[str, set[UUID]] = {"user": set(), "agent": set()}
    for actor in actors:
        kind, _, code = actor.partition(":")
        codes[kind].add(UUID(code))
    names = {}
    for person in User.objects.filter(code__in=codes["user"]):
        names[f"user:{person.code}"] = make_visible_line(person.display_name)
    for agent in Agent.objects.filter(code__in=codes["agent"]):
        names[f"agent:{agent.code}"] = make_visible_line(agent.name)
    return names
