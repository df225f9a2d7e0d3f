"""manage.py statistics_rebuild: throw the figures away and count the ledger anew."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from common.commands import QuickCommand
from ledger.management.progress import ProgressBar
from ledger.management.projects import add_project_option, list_selected_projects
from ledger.models import ProjectHead
from ledger.statistics.recount import rebuild_statistics


class Command(QuickCommand):
    help = (
        "Count the figures of pages and statistics anew from the ledger. The server may "
        "go on meanwhile; until it is done the figures are too low."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_project_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        for project in list_selected_projects(options["project"]):
            head = ProjectHead.objects.get(pk=project.pk)
            bar = ProgressBar(sys.stderr, total=head.position, what="entries")
            count = rebuild_statistics(project_id=project.pk, on_progress=bar.show)
            bar.clear()
            self.stdout.write(f"{project.slug}: {count:,} entries counted")
