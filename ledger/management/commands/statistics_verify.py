"""manage.py statistics_verify: compare the figures with the ledger; exit 1 if they differ."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from common.commands import QuickCommand
from ledger.management.progress import ProgressBar
from ledger.management.projects import add_project_option, list_selected_projects
from ledger.models import StatisticsCursor
from ledger.statistics.recount import (
    StatisticsBusy,
    list_agent_names,
    list_differences,
)

# So many differences of a project are written down.
SHOWN_LIMIT = 50


class Command(QuickCommand):
    help = "Recount the figures of pages and statistics from the ledger, and compare."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        different = False
        for project in list_selected_projects(options["project"]):
            cursor = StatisticsCursor.objects.filter(pk=project.pk).first()
            total = cursor.position if cursor else 0
            bar = ProgressBar(sys.stderr, total=total, what="entries")
            try:
                found = list_differences(project_id=project.pk, on_progress=bar.show)
            except StatisticsBusy:
                raise CommandError(
                    f"{project.slug}: the figures are being counted. Try again once "
                    "that is done."
                ) from None
            bar.clear()
            agents = list_agent_names(project_id=project.pk)
            for each in found[:SHOWN_LIMIT]:
                words = each.describe(agents=agents)
                self.stderr.write(f"DIFFERENT {project.slug}: {words}")
            if len(found) > SHOWN_LIMIT:
                self.stderr.write(f"… and {len(found) - SHOWN_LIMIT:,} more")
            self.stdout.write(
                f"{project.slug}: {total:,} entries recounted, "
                f"{len(found):,} figures different"
            )
            different = different or bool(found)
        if different:
            self.stderr.write(
                "`manage.py statistics_rebuild` counts them anew from the ledger."
            )
            sys.exit(1)
