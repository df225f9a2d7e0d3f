"""manage.py checkpoint_secrets: exit 0 when no stored state holds a secret, else 1."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from common.commands import QuickCommand
from gateway.use_cases.checkpoint_secrets import list_leaks, redact_checkpoint
from ledger.management.selection import add_run_option, list_selected_runs


class Command(QuickCommand):
    help = (
        "Find secrets in the states of stored checkpoints, and in the answers kept for "
        "their keys. With --redact each is replaced by a label, which the ledger records and nothing undoes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_run_option(parser)
        parser.add_argument(
            "--redact",
            action="store_true",
            help="replace the secrets: agents that resume find labels in their place",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        leaking = 0
        checked = 0
        for run in list_selected_runs(options["run"]):
            checked += run.checkpoints.count()
            for leak in list_leaks(run):
                leaking += 1
                places = ", ".join(leak.places)
                self.stderr.write(
                    f"run {run.code} checkpoint {leak.checkpoint.code}: {places}"
                )
                if options["redact"]:
                    redact_checkpoint(run, leak.checkpoint)
        if not leaking:
            self.stdout.write(f"{checked} checkpoints, none holds a secret")
        elif options["redact"]:
            self.stdout.write(f"{checked} checkpoints, {leaking} redacted")
        else:
            self.stdout.write(
                f"{checked} checkpoints, {leaking} hold a secret: change those secrets "
                "where they are used, then run this again with --redact"
            )
            sys.exit(1)
