"""manage.py ledger_verify: exit 0 when every chain is whole, 1 when one is broken."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from accounts.append_only import list_faults
from ledger.management.selection import add_run_option, selected_runs
from ledger.verify import verify_run


class Command(BaseCommand):
    help = "Recompute every hash of every run's chain (or of one run's)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_run_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        runs = entries = broken = 0
        for run in selected_runs(options["run"]):
            result = verify_run(run)
            runs += 1
            entries += result.entries
            if not result.ok:
                broken += 1
                self.stderr.write(
                    f"BROKEN run {run.code} seq {result.first_bad_seq}: {result.reason}"
                )
        faults = list_faults()
        for fault in faults:
            self.stderr.write(f"UNPROTECTED {fault}")
        self.stdout.write(f"{runs} runs, {entries} entries, {broken} broken")
        if broken or faults:
            sys.exit(1)
