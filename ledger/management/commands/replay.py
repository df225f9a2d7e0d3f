"""manage.py replay: judge stored runs again; exit 0 when everything comes out the same."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from guidance.core.policy import Policy, load_policy
from guidance.models import PolicyVersion
from ledger.management.selection import add_run_option, selected_runs
from ledger.models import Run
from ledger.replay import replay_run


class Command(BaseCommand):
    help = "Re-judge every stored step under its policy and name the first difference."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_run_option(parser)
        parser.add_argument(
            "--policy", metavar="NAME@N", help="judge by this version instead"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs = different = 0
        for run in selected_runs(options["run"]):
            difference = replay_run(run, policy=_policy(run, options["policy"]))
            runs += 1
            if difference is not None:
                different += 1
                self.stderr.write(f"DIFFERENT run {run.code} {difference}")
        self.stdout.write(f"{runs} runs replayed, {different} different")
        if different:
            sys.exit(1)


def _policy(run: Run, wanted: str | None) -> Policy | None:
    """The wanted version of the run's own project."""
    if wanted is None:
        return None
    name, at, number = wanted.rpartition("@")
    if not at or not number.isdigit():
        raise CommandError("--policy takes NAME@N, for example default@1.")
    row = PolicyVersion.objects.filter(
        project_id=run.project_id, name=name, version=int(number)
    ).first()
    if row is None:
        raise CommandError(f"The project of run {run.code} has no policy {wanted}.")
    return load_policy(json.loads(row.document))
