"""The writer: every change of every run, and the only code that writes to the ledger.

A *change request* (`changes.ChangeRequest`) says what somebody wants: report a step, rule
on a review, finish a run. Its `load` reads what it must know beside the run; then its
`decide`, which is pure, gets the run's state and the time and returns a `Change`: a plan
(`ledger.plan`) of the new state, the entries that say why and the rows that belong to
them, and the answer to the caller. Or it raises a DomainError, and nothing is stored.
Callers hand it over with `await writer().perform(request)`, or `perform_now` where they
may block; both return after the commit.

*One thread per process* (`thread`) with a database connection of its own takes everything
that waits. *Group commit* (`batch`): it decides each request in order, each on the state
that the one before it left, and stores all of them with one commit. While that commit is
under way (`sent`) the next batch is judged, of other runs (ADR 0046).

*Compare-and-set*: states of busy runs are kept in memory (`state_cache`), but other
processes write too. So a run is stored only if its `head_hash` is still the one that was
decided on (`store_postgresql`, `store_sqlite`); a run that lost is read and decided again.
A refusal based on a cached state is decided again on a fresh one before it is given.

*Halts* (`halts`): requests that obey them are refused while a person halts what they belong
to. The compare-and-set carries the version of the project's halts, too.

*Locking* (`locking`, `batch.commit_one`): requests that people and agents compete for, or
that carry an Idempotency-Key, are decided one by one in a transaction of their own, after
the project's row is locked, by the database's clock. A ruling whose run was read just
before needs no lock of its own if nothing has moved (`seen_runs`). They wait in a queue
in which their senders take turns (`fair_queue`): a few of them, then the next batch.

*After the commit*: listeners (`Writer.listen`, `listen_always`) get a `Committed`, first
of them the hub of `ledger.waiting`, which wakes the agents that wait for this run; on
PostgreSQL other processes hear of it by NOTIFY, sent in the same transaction. Then the
caller gets its answer. All of this is a hint: whoever misses it finds the change in the
database.

*Trouble*: when a batch fails, nothing of it is believed, the connection is closed and each
request is tried again by itself. One that may have been committed before its answer was
lost is repeated only if a step number or an Idempotency-Key makes that safe.

`system_runs` starts the runs of the server's own agents, such as the loop's. `sql` runs
prepared statements past the ORM where an agent waits for them (`prepared` on PostgreSQL);
`db_threads` runs reads for async code on a few threads.
"""

from __future__ import annotations

from ledger.chain import SealedEntry
from ledger.plan import Change, Draft
from ledger.writer.changes import ChangeRequest, NewRunRequest
from ledger.writer.jobs import Committed
from ledger.writer.thread import Writer, close_writer, get_writer, listen_always

__all__ = [
    "Change",
    "ChangeRequest",
    "Committed",
    "Draft",
    "NewRunRequest",
    "SealedEntry",
    "Writer",
    "close_writer",
    "get_writer",
    "listen_always",
]
