"""The rows as they are stored, in the words that the entries have for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, QuerySet

from guidance.core.canonical import hash_text, to_canonical_json
from ledger.chain import format_timestamp
from ledger.models import Checkpoint, RunOutcome
from ledger.verification.unreadable import describe, refuse_other
from reviews.models import (
    AdvisoryWarning,
    AgentNote,
    Comment,
    Exemption,
    GateCheck,
    Grant,
    HeldRuling,
    ModelRequest,
    Permission,
    PolicyShadowItem,
    Review,
    ReviewApproval,
    Ruling,
    RulingFact,
    SealedLook,
    ToolCall,
    Violation,
)
from reviews.row_checks.rows import Key
from reviews.rulings.held import seal_said

Values = dict[str, Any]


class StoredRow(NamedTuple):
    """`trouble` says why a row has no values: it cannot be read. Perhaps not even what
    names it can, and it goes by the number that the database gave it."""

    run_id: int
    key: Key
    values: Values
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """`run` leads from a row to its run, `key` names a row, `values` maps what the
    entries call something to where it is stored; `also` derives what is not stored.
    `may_be_untold` says of which rows no entry has to tell."""

    name: str
    rows: QuerySet[Any]
    run: str
    key: tuple[str, ...]
    values: dict[str, str]
    also: Callable[[Values], None] | None = None
    may_be_untold: Callable[[Values], bool] = lambda _values: False

    def read(self, run_ids: Sequence[int]) -> Iterable[StoredRow]:
        """All rows of these runs. One by one where some of them cannot be read."""
        rows = self.rows.filter(**{f"{self.run}__in": run_ids})
        try:
            return [*self._read(rows)]
        except Exception as error:
            refuse_other(error)
            return self._read_one_by_one(rows)

    def _read(self, rows: QuerySet[Any]) -> Iterator[StoredRow]:
        columns = [self.run, *self.key, *self.values.values()]
        width = len(self.key)
        for run_id, *row in rows.values_list(*columns).iterator(chunk_size=1000):
            stored = [_to_plain(value) for value in row]
            values = dict(zip(self.values, stored[width:], strict=True))
            if self.also is not None:
                self.also(values)
            yield StoredRow(run_id, tuple(map(str, stored[:width])), values)

    def _read_one_by_one(self, rows: QuerySet[Any]) -> Iterator[StoredRow]:
        for run_id, pk in list(rows.values_list(self.run, "pk")):
            row = rows.filter(pk=pk)
            try:
                yield from self._read(row)
            except Exception as error:
                refuse_other(error)
                yield StoredRow(run_id, self._build_key(row, pk), {}, describe(error))

    def _build_key(self, row: QuerySet[Any], pk: int) -> Key:
        try:
            return tuple(str(_to_plain(part)) for part in row.values_list(*self.key)[0])
        except Exception as error:
            refuse_other(error)
            return (f"in row {pk}",)


def _to_plain(value: Any) -> Any:
    if isinstance(value, bytes):
        raise TypeError("bytes in the place of text")
    if isinstance(value, datetime):
        return format_timestamp(value)
    return str(value) if isinstance(value, UUID) else value


def keep_same(*names: str, **others: str) -> dict[str, str]:
    return {**{name: name for name in names}, **others}


def build_person_reader(*names: str) -> Callable[[Values], None]:
    """People are stored by their code, and named as actors."""

    def name(values: Values) -> None:
        for each in names:
            if values[each] is not None:
                values[each] = f"user:{values[each]}"

    return name


def _read_review(values: Values) -> None:
    build_person_reader("assignee")(values)
    values["content"] = hash_text(values["content"])


def _read_permission(values: Values) -> None:
    """Each use is a grant of some run, and that run's chain tells of it."""
    build_person_reader("granted_by", "revoked_by")(values)
    values["rules"] = json.loads(values["rules"])
    used = values.pop("used")
    values["uses"] += used
    values["uncounted"] = used - values["uncounted"]


def _read_checkpoint(values: Values) -> None:
    values["state"] = hash_text(to_canonical_json(json.loads(values["state"])))


def _read_held(values: Values) -> None:
    values["sealed"] = seal_said(values.pop("action"), values.pop("said"))


def _read_sealed_look(values: Values) -> None:
    """The entry has a hash of what it says."""
    said = {**json.loads(values.pop("said")), "salt": values.pop("salt")}
    values["sealed"] = hash_text(to_canonical_json(said))


TABLES = (
    Table(
        "review",
        Review.objects.all(),
        "run_id",
        ("code",),
        keep_same(
            *("kind", "title", "content", "content_digest", "step_number", "opened_at"),
            *("due_at", "on_expiry", "version", "state", "closed_at", "claimed_at"),
            *("assigned_at", "snoozed_until", "snoozed_for"),
            *("severity", "reversibility", "answer_by", "late_at"),
            *("approvals_needed", "approvals_given"),
            project="project_id",
            assignee="assignee__code",
        ),
        _read_review,
    ),
    Table(
        "approval",
        ReviewApproval.objects.all(),
        "review__run_id",
        ("review__code", "version"),
        keep_same(
            *("action", "note", "amended", "findings", "allowance", "at"), by="by__code"
        ),
        build_person_reader("by"),
    ),
    Table(
        "ruling",
        Ruling.objects.all(),
        "review__run_id",
        ("review__code",),
        keep_same("action", "note", "answer", "amended", "at", by="by__code"),
        build_person_reader("by"),
    ),
    Table(
        "ruling fact",
        RulingFact.objects.all(),
        "run_id",
        ("ruling__review__code",),
        keep_same(
            *("action", "kind", "at", "took_ms", "read_ms", "regretted"),
            project="project_id",
            by="by__code",
        ),
        build_person_reader("by"),
    ),
    Table(
        "held ruling",
        HeldRuling.objects.all(),
        "review__run_id",
        ("review__code", "by__code"),
        keep_same("action", "said", "held_at", "due_at"),
        _read_held,
    ),
    Table(
        "note",
        AgentNote.objects.all(),
        "run_id",
        ("code",),
        keep_same(
            *("text", "tags", "at", "read_at"),
            *("delivered_at", "delivered_with", "delivered_step", "delivered_for"),
            by="by__code",
        ),
        build_person_reader("by"),
    ),
    Table(
        "comment",
        Comment.objects.all(),
        "review__run_id",
        ("review__code", "author__code", "at", "text"),
        {},
    ),
    Table(
        "call",
        ToolCall.objects.all(),
        "run_id",
        ("code",),
        keep_same(
            *("kind", "tool", "key", "digest", "decision", "seq", "judged_at", "ok"),
            *("output", "result_digest", "settled_at", "facts"),
            project="project_id",
            review="review_id",
        ),
    ),
    Table(
        "grant",
        Grant.objects.all(),
        "run_id",
        ("call_id",),
        keep_same(
            *("code", "digest", "policy_hash", "issued_at", "expires_at", "state"),
            "ended_at",
            permission="permission__code",
        ),
    ),
    Table(
        "permission",
        Permission.objects.annotate(counted=Count("grant")),
        "run_id",
        ("code",),
        keep_same(
            *("scope", "tool", "key", "covers", "rules", "granted_at", "expires_at"),
            *("used", "revoked_at"),
            project="project_id",
            review="review__code",
            uses="uses_left",
            uncounted="counted",
            granted_by="granted_by__code",
            revoked_by="revoked_by__code",
        ),
        _read_permission,
    ),
    Table(
        "exemption",
        Exemption.objects.all(),
        "run_id",
        ("code",),
        keep_same(
            *("fingerprint", "label", "reason", "made_at", "revoked_at"),
            project="project_id",
            call="call_id",
            made_by="made_by__code",
            revoked_by="revoked_by__code",
        ),
        build_person_reader("made_by", "revoked_by"),
    ),
    Table(
        "check",
        GateCheck.objects.all(),
        "run_id",
        ("code",),
        keep_same(
            *("step", "gates", "state", "status", "opened_at", "updated_at"),
            project="project_id",
            review="review_id",
        ),
    ),
    Table(
        "warning",
        AdvisoryWarning.objects.all(),
        "run_id",
        ("check_code", "at", "text"),
        keep_same("code"),
    ),
    Table(
        "acknowledgement",
        AdvisoryWarning.objects.exclude(acknowledged_at=None),
        "run_id",
        ("code",),
        {"by": "acknowledged_by__code", "at": "acknowledged_at"},
        build_person_reader("by"),
    ),
    Table(
        "request to a model",
        ModelRequest.objects.exclude(seq=None),
        "run_id",
        ("seq",),
        keep_same(
            *("purpose", "model", "tokens_in", "tokens_out", "cost_micros", "at"),
            project="project_id",
        ),
    ),
    Table(
        "sealed look",
        SealedLook.objects.all(),
        "run_id",
        ("call_code",),
        keep_same("said", "salt"),
        _read_sealed_look,
    ),
    Table(
        "shadow item",
        PolicyShadowItem.objects.all(),
        "run_id",
        ("code",),
        keep_same(
            *("seq", "at", "kind", "gate", "rule", "move", "asks", "reason", "tool"),
            shadow="shadow__code",
        ),
    ),
    Table(
        "violation",
        Violation.objects.all(),
        "run_id",
        ("seq", "place"),
        keep_same(
            *("at", "rule", "severity", "source", "gate", "decision"),
            *("auto_corrected", "destructive", "text"),
            project="project_id",
            call="call_id",
        ),
    ),
    Table(
        "outcome",
        RunOutcome.objects.all(),
        "run_id",
        ("run__code",),
        keep_same(
            *("at", "accepted", "evaluations", "lines_added", "lines_removed"),
            *("files_changed", "rework_lines"),
            project="project_id",
        ),
    ),
    Table(
        "checkpoint",
        Checkpoint.objects.all(),
        "run_id",
        ("code",),
        keep_same("step", "label", "state", "created_at"),
        _read_checkpoint,
    ),
)
