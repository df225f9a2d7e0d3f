"""The index of words: of one project alone, whatever other tests left to be read."""

from __future__ import annotations

from accounts.models import Project
from ledger.models import ProjectHead, WordsIndexed


def mark_indexed(*, but: Project) -> None:
    """As if all that other projects have written so far were indexed."""
    WordsIndexed.objects.bulk_create(
        (
            WordsIndexed(project_id=head.pk, position=head.position)
            for head in ProjectHead.objects.exclude(pk=but.pk)
        ),
        update_conflicts=True,
        update_fields=["position"],
        unique_fields=["project"],
    )
