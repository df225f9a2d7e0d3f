"""manage.py replay: judge stored runs again; exit 0 when everything comes out the same."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from common.commands import QuickCommand
from guidance.core.policy import Policy, load_policy
from guidance.models import PolicyVersion
from ledger.management.progress import ProgressBar
from ledger.management.selection import (
    add_run_option,
    count_selected_entries,
    list_selected_runs,
)
from ledger.models import Run
from ledger.verification.replay import replay_run
from ledger.verification.row_checks import compare_runs, list_batches


class Command(QuickCommand):
    help = (
        "Judge every stored decision again under its policy, and name the first that "
        "differs in each run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_run_option(parser)
        parser.add_argument(
            "--policy",
            metavar="NAME@N",
            help="judge by this version instead, in force or not: decisions are compared, "
            "and the gates that made them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs = different = skipped = done = 0
        wanted = _Wanted(options["policy"])
        bar = ProgressBar(
            sys.stderr, total=count_selected_entries(options["run"]), what="entries"
        )
        for batch in list_batches(list_selected_runs(options["run"])):
            same = []
            for run in batch:
                bar.show(done)
                done += run.head_seq
                policy = wanted.get_policy(run)
                if policy is None and wanted.named:
                    continue  # its project has no such policy: nothing to compare
                replayed = replay_run(run, policy=policy)
                runs, skipped = runs + 1, skipped + replayed.skipped
                if replayed.difference is None:
                    same.append(run)
                else:
                    different += 1
                    bar.clear()
                    self.stderr.write(f"DIFFERENT run {run.code} {replayed.difference}")
            different += 0 if wanted.named else self._compare(same)
        bar.clear()
        if wanted.named and not runs:
            raise CommandError(f"No project with runs has a policy {wanted.named}.")
        self.stdout.write(f"{runs} runs replayed, {different} different")
        if skipped:
            self.stdout.write(
                f"{skipped} decisions by older versions of the gates: not judged again"
            )
        if different:
            sys.exit(1)

    def _compare(self, runs: list[Run]) -> int:
        """Rows beside the chain; how many runs have one that differs."""
        codes = {run.pk: run.code for run in runs}
        found = compare_runs(runs)
        for each in found:
            where = f"run {codes[each.run_id]} entry {each.seq}"
            self.stderr.write(f"DIFFERENT {where}: {each.reason}")
        return len({each.run_id for each in found})


class _Wanted:
    """The version to judge by: each run's project has its own of that name."""

    def __init__(self, named: str | None) -> None:
        self.named = named
        name, at, number = (named or "default@1").rpartition("@")
        if not at or not name or not (number.isascii() and number.isdigit()):
            raise CommandError("--policy takes NAME@N, for example default@1.")
        self._name, self._version = name, int(number)

    def get_policy(self, run: Run) -> Policy | None:
        if self.named is None:
            return None
        row = PolicyVersion.objects.filter(
            project_id=run.project_id, name=self._name, version=self._version
        ).first()
        return load_policy(json.loads(row.document)) if row else None
