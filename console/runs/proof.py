"""Is the chain of a run whole? Said in words: what was checked, what it means, what to do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from console.format import build_past_moment, format_count, format_iso
from ledger.models import ProjectVerification, Run
from ledger.verification.project import read_findings
from ledger.verification.verify import verify_run_and_rows
from ledger.verification.whole import Findings
from safetext import make_visible_line

# A request has to answer soon; longer runs are checked in the background.
ENTRIES_LIMIT = 50_000
TO_DO = (
    "Change nothing in the database, and keep a copy of it as it is.",
    "Compare it with a backup, with an exported ledger, and with the receipts that agents "
    "hold: they show what stood there before.",
    "Find out who could write to the database past the server.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """`at` is when it was checked, empty where it was not."""

    slug: str
    run: str
    tone: str = "mute"
    icon: str = "shield"
    head: str = ""
    text: str = ""
    means: str = ""
    to_do: tuple[str, ...] = ()
    at: str = ""
    again: str = "Verify"


def shorten_hash(text: str) -> str:
    return f"{text[:4]}…{text[-4:]}"


def build_last_proof(
    run: Run, *, slug: str, newest: ProjectVerification | None, at: datetime
) -> Proof:
    """Before somebody asks: what the last check of the whole project said of it."""
    entries = format_count(run.head_seq, "entry", "entries")
    said = f"{entries}, the last one is {shorten_hash(run.head_hash)}."
    proof = Proof(slug=slug, run=str(run.code), text=said)
    if newest is None or newest.started_at is None or newest.ended_at is None:
        return replace(proof, head="Ledger not checked yet")
    findings = read_findings(newest)
    broken = {each["run"]: each for each in findings.named}
    found = broken.get(str(run.code))
    if found is not None:
        return _add_break(proof, found["seq"], found["reason"], at=newest.ended_at)
    if run.created_at > newest.started_at:
        return replace(proof, head="Newer than the last check")
    ago = build_past_moment(newest.ended_at, at).words
    faults = _describe_unnamed(findings)
    if faults:
        return replace(
            proof,
            tone="stop",
            icon="unpassed",
            head="The last check found faults",
            text=f"{said} Checked {ago}: {faults}. Verify this run now.",
        )
    return replace(
        proof,
        head="Whole at the last check",
        text=f"{said} All runs were checked {ago}.",
    )


def _describe_unnamed(findings: Findings) -> str:
    """Faults that may be in any run; empty where each has its run."""
    if findings.broken > len(findings.named):
        return f"more runs are broken than the {len(findings.named)} it names"
    if findings.differing:
        return "what runs used together does not add up"
    return "some entries are missing" if findings.missing else ""


def build_proof(run: Run, *, slug: str, at: datetime) -> Proof:
    """Check it now."""
    proof = Proof(slug=slug, run=str(run.code))
    if run.head_seq > ENTRIES_LIMIT:
        entries = format_count(run.head_seq, "entry", "entries")
        return replace(
            proof,
            tone="pause",
            icon="clock",
            head="Too long to check while you wait",
            text=f"{entries} take a while: verify the whole ledger in the background.",
        )
    result = verify_run_and_rows(run)
    if result.first_bad_seq is not None:
        return _add_break(proof, result.first_bad_seq, result.reason, at=at)
    entries = format_count(result.entries, "entry matches", "entries match")
    return replace(
        proof,
        tone="go",
        head="Ledger whole",
        text=f"All {entries}, from the first to {shorten_hash(result.head_hash)}.",
        at=format_iso(at),
        again="Verify again",
    )


def describe_break(seq: int) -> str:
    first = {0: "Nothing of it holds", 1: "Nothing of it holds", 2: "Entry 1 holds"}
    holds = first.get(seq, f"Entries 1 to {seq - 1:,} hold")
    return (
        f"{holds}; from entry {seq:,} on nothing is proven. Somebody changed stored rows past "
        "the server, or a disk or a restore damaged them."
    )


def _add_break(
    proof: Proof, seq: int | None, reason: str | None, *, at: datetime
) -> Proof:
    seq = seq or 0
    return replace(
        proof,
        tone="stop",
        icon="unpassed",
        head=f"Ledger broken at entry {seq:,}",
        text=f"Entry {seq:,}: {make_visible_line(reason or '', limit=300)}.",
        means=describe_break(seq),
        to_do=TO_DO,
        at=format_iso(at),
        again="Verify again",
    )
