"""manage.py ledger_verify: exit 0 when every chain is whole, 1 when one is broken."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from common.append_only import list_faults
from common.commands import QuickCommand
from ledger.management.selection import add_run_option, list_selected_runs
from ledger.models import Run
from ledger.verification.missing import list_missing_positions, list_missing_runs
from ledger.verification.row_checks import compare_runs, list_batches
from ledger.verification.verify import verify_run


class Command(QuickCommand):
    help = "Recompute every chain and compare every row with it (or those of one run)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_run_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        runs = entries = broken = 0
        faults = [f"UNPROTECTED {fault}" for fault in list_faults()]
        for batch in list_batches(list_selected_runs(options["run"])):
            whole = []
            for run in batch:
                result = verify_run(run)
                runs += 1
                entries += result.entries
                if result.ok:
                    whole.append(run)
                else:
                    broken += 1
                    self._report_broken(run, result.first_bad_seq, result.reason)
            broken += self._compare(whole)
        if options["run"] is None:
            missing = [*list_missing_positions(), *list_missing_runs()]
            faults += [f"MISSING {fault}" for fault in missing]
        for fault in faults:
            self.stderr.write(fault)
        self.stdout.write(f"{runs} runs, {entries} entries, {broken} broken")
        if broken or faults:
            sys.exit(1)

    def _compare(self, runs: list[Run]) -> int:
        """Rows beside the chain; how many runs have one that differs."""
        by_id = {run.pk: run for run in runs}
        found = compare_runs(runs)
        for each in found:
            self._report_broken(by_id[each.run_id], each.seq, each.reason)
        return len({each.run_id for each in found})

    def _report_broken(self, run: Run, seq: int | None, reason: str | None) -> None:
        self.stderr.write(f"BROKEN run {run.code} seq {seq}: {reason}")
