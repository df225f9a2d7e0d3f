"""The whole ledger of a project: every chain, every row beside them, what runs share, and
what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from common.append_only import list_faults
from ledger.models import Entry, ProjectHead, Run
from ledger.verification.missing import list_missing_positions, list_missing_runs
from ledger.verification.row_checks import compare_runs, list_batches
from ledger.verification.shared_use import ProjectUse
from ledger.verification.verify import read_runs, verify_row

# So many broken runs are named in what is stored of a check; all are counted.
NAMED_LIMIT = 100
_PAGE = 200


class Fault(NamedTuple):
    run: str
    seq: int | None
    reason: str | None


@dataclass(kw_only=True)
class Findings:
    """The findings of a check so far; `last_run` is the id of the run it came to.

    `resumed`: it goes on where a process that was killed came to, and does not know what the
    runs before took from limits that are shared.
    """

    last_run: int = 0
    runs: int = 0
    entries: int = 0
    broken: int = 0
    named: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    differing: list[str] = field(default_factory=list)
    unprotected: list[str] = field(default_factory=list)
    resumed: bool = False

    @property
    def is_whole(self) -> bool:
        return not (self.broken or self.missing or self.differing or self.unprotected)

    def add_broken(self, faults: Sequence[Fault]) -> None:
        """Add those of one run, of which the first is named."""
        self.broken += 1
        if len(self.named) < NAMED_LIMIT:
            self.named.append(faults[0]._asdict())


def list_project_ids() -> list[int]:
    """Also of projects whose own row is gone."""
    heads = ProjectHead.objects.values_list("project_id", flat=True)
    of_runs = Run.objects.order_by().values_list("project_id", flat=True).distinct()
    of_entries = (
        Entry.objects.order_by().values_list("project_id", flat=True).distinct()
    )
    return sorted({*heads, *of_runs, *of_entries})


class WholeCheck:
    """The check of one project, to be made in one snapshot; `found` grows meanwhile."""

    def __init__(
        self,
        project_id: int,
        found: Findings,
        *,
        after_run: Callable[[], None] = lambda: None,
    ) -> None:
        self._project_id = project_id
        self._after_run = after_run
        self._use = ProjectUse(project_id)
        self._knows_use = not found.last_run
        self.found = found

    def check_runs(self) -> Iterator[list[Fault]]:
        """Batch after batch; the faults of each."""
        for batch in list_batches(self._list_runs()):
            yield self.check_batch(batch)

    def check_batch(self, batch: Sequence[Run]) -> list[Fault]:
        found, faults = self.found, dict[int, list[Fault]]()
        codes = {run.pk: str(run.code) for run in batch}
        whole = []
        for run in batch:
            result = verify_row(run)
            self._after_run()
            found.entries += result.entries
            if result.use is None:
                self._knows_use = False
            else:
                self._use.add_run(result.use)
            if result.ok:
                whole.append(run)
            else:
                fault = Fault(codes[run.pk], result.first_bad_seq, result.reason)
                faults[run.pk] = [fault]
        for each in compare_runs(whole):
            fault = Fault(codes[each.run_id], each.seq, each.reason)
            faults.setdefault(each.run_id, []).append(fault)
        for of_run in faults.values():
            found.add_broken(of_run)
        found.runs += len(batch)
        found.last_run = batch[-1].pk
        return [fault for of_run in faults.values() for fault in of_run]

    def check_rest(self) -> None:
        """After the last run: what belongs to none of them."""
        found = self.found
        found.missing = list_missing_positions(self._project_id)
        found.missing += list_missing_runs(self._project_id)
        # A run that is broken, or was not walked, would be missing in every sum.
        found.differing = list(self._use.list_faults()) if self._knows_use else []
        found.resumed = not self._knows_use and not found.broken
        found.unprotected = list(list_faults())

    def _list_runs(self) -> Iterable[Run]:
        last = self.found.last_run
        runs = read_runs().filter(project_id=self._project_id)
        while page := list(runs.filter(pk__gt=last)[:_PAGE]):
            yield from page
            last = page[-1].pk
