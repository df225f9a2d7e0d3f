"""Whether the ledger was found whole when all of it was last checked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from console.format import format_ago, format_count
from console.overview.links import Links
from console.overview.needs.need import Need
from ledger.jobs.models import JobState
from ledger.models import ProjectVerification
from ledger.verification.project import read_findings
from ledger.verification.whole import Findings

# It is checked once a day: what is older than two of them should not pass for proof.
STALE_AFTER = timedelta(days=2)


def find_ledger_state(*, project_id: int, at: datetime, links: Links) -> Iterator[Need]:
    """Silence is no proof: that it is whole is said, too. Nothing before the first check."""
    checked = (
        ProjectVerification.objects.filter(
            project_id=project_id, state=JobState.FINISHED
        )
        .order_by("-pk")
        .first()
    )
    if checked is None or checked.ended_at is None:
        return
    found, age = read_findings(checked), at - checked.ended_at
    when = format_ago(age.total_seconds())
    whole = f"{when}, {format_count(found.entries, 'entry', 'entries')}"
    if not found.is_whole:
        words = ("stop", "unpassed", "Ledger is not whole", _describe(found))
    elif age > STALE_AFTER:
        words = ("pause", "shield", "Ledger not checked lately", whole)
    else:
        words = ("go", "shield", "Ledger verified", whole)
    tone, icon, title, about = words
    yield Need(
        tone=tone,
        icon=icon,
        title=title,
        about=about,
        href=links.open_ledger(),
        harm=0 if tone == "stop" else 6,
    )


def _describe(found: Findings) -> str:
    if found.broken:
        return f"{format_count(found.broken, 'run')} with a broken chain"
    if found.missing:
        return "Entries or runs are missing"
    if found.differing:
        return "What runs used together does not add up"
    return "The database would let entries be changed"
