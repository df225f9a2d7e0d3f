"""Which runs a command looks at: one by its id, or all of them."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator

from django.core.management.base import CommandError
from django.db.models import Sum

from common.ids import parse_code
from ledger.models import Run
from ledger.verification.verify import read_runs


def add_run_option(parser: ArgumentParser) -> None:
    parser.add_argument("--run", metavar="ID", help="only this run")


def count_selected_entries(code: str | None) -> int:
    """How much there is to read, for who wants to see how far it came."""
    runs = Run.objects.all()
    if code is not None:
        known = parse_code(code)
        runs = runs.filter(code=known) if known else runs.none()
    return runs.aggregate(sum=Sum("head_seq"))["sum"] or 0


def list_selected_runs(code: str | None) -> Iterator[Run]:
    runs = read_runs()
    if code is None:
        yield from runs.iterator(chunk_size=200)
        return
    known = parse_code(code)
    run = runs.filter(code=known).first() if known else None
    if run is None:
        raise CommandError(f"There is no run {code}.")
    yield run
