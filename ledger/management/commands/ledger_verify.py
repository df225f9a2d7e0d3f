"""manage.py ledger_verify: exit 0 when every chain is whole, 1 when one is broken."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from typing import Any

from django.core.management.base import CommandError

from accounts.models import Project
from common.append_only import list_faults
from common.commands import QuickCommand
from ledger.management.selection import add_run_option, list_selected_runs
from ledger.verification.snapshot import DatabaseBusy, try_again
from ledger.verification.whole import Fault, Findings, WholeCheck, list_project_ids

Checked = tuple[Findings, list[Fault]]


class Command(QuickCommand):
    help = "Recompute every chain and compare every row with it (or those of one run)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_run_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            for fault in try_again(list_faults, tell=self.stderr.write):
                self.stderr.write(f"UNPROTECTED {fault}")
            checked = self._check(options["run"])
        except DatabaseBusy as busy:
            raise CommandError(str(busy)) from busy
        runs, entries, broken = (
            sum(getattr(found, name) for found in checked)
            for name in ("runs", "entries", "broken")
        )
        self.stdout.write(f"{runs} runs, {entries} entries, {broken} broken")
        if not all(found.is_whole for found in checked):
            sys.exit(1)

    def _check(self, code: str | None) -> list[Findings]:
        """Each project in a snapshot of its own; what is found is said when it is whole."""
        if code is not None:
            return [self._report(partial(_check_run, code))]
        ids = try_again(list_project_ids, tell=self.stderr.write)
        return [self._report(partial(_check_project, each)) for each in ids]

    def _report(self, check: Callable[[], Checked]) -> Findings:
        found, faults = try_again(check, tell=self.stderr.write)
        for each in faults:
            self.stderr.write(f"BROKEN run {each.run} seq {each.seq}: {each.reason}")
        for line in found.missing:
            self.stderr.write(f"MISSING {line}")
        for line in found.differing:
            self.stderr.write(f"BROKEN {line}")
        return found


def _check_project(project_id: int) -> Checked:
    check = WholeCheck(project_id, Findings())
    faults = [fault for batch in check.check_runs() for fault in batch]
    check.check_rest()
    named = Project.objects.filter(pk=project_id).values_list("slug", flat=True).first()
    found = check.found
    found.differing = [
        f"project {named or project_id}: {each}" for each in found.differing
    ]
    return found, faults


def _check_run(code: str) -> Checked:
    (run,) = list_selected_runs(code)
    check = WholeCheck(run.project_id, Findings())
    faults = check.check_batch([run])
    check.found.unprotected = list(list_faults())
    return check.found, faults
