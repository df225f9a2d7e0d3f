"""What was exported: who took a copy of a chain, and up to which entry."""

from __future__ import annotations

from accounts.auth import Principal
from ledger.models import LedgerExport, Run


def record_export(run: Run, *, principal: Principal) -> None:
    LedgerExport.objects.create(
        project_id=run.project_id,
        run=run,
        actor=principal.actor,
        head_seq=run.head_seq,
        head_hash=run.head_hash,
    )
