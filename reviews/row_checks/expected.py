"""The rows as they follow from a run's entries: what the writer must have stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from guidance.core.canonical import to_canonical_json
from guidance.core.checks import CheckState
from guidance.core.tools.permission_shapes import build_permission_key
from reviews.models import APPROVING, GrantState, Kind, ReviewState, SnoozedFor
from reviews.queue.subjects import measure_ms

Payload = Mapping[str, Any]
Key = tuple[str, ...]
# For a column of which an older entry says nothing: it is not compared.
UNKNOWN = object()
# They revoke the grants of their run, also of a stopped one that may be reopened.
CLOSING = ("run.finished", "run.stopped", "run.aborted", "run.abandoned")


class EntryOrigin(NamedTuple):
    """Where an entry stands, when it was made and by whom."""

    seq: int
    at: str
    actor: str


@dataclass(slots=True)
class Expected:
    """One row; `seq` is the last entry that changed it. `count` is more than 1 where
    several entries tell of equal rows. `may_be_gone`: a sweep deletes it, sooner or later."""

    seq: int
    values: dict[str, Any]
    count: int = 1
    may_be_gone: bool = False

    def change(self, now: EntryOrigin, **values: Any) -> None:
        self.seq = now.seq
        self.values |= values


@dataclass(slots=True)
class ExpectedRows:
    """All rows of one run: by table, then by what names a row there."""

    run_code: str
    project_id: int
    tables: dict[str, dict[Key, Expected]] = field(default_factory=dict)
    call_by_review: dict[str, str] = field(default_factory=dict)
    seq: int = 0

    def get_table(self, table: str) -> dict[Key, Expected]:
        return self.tables.setdefault(table, {})

    def add(self, table: str, *key: str, now: EntryOrigin, **values: Any) -> None:
        before = self.get_table(table).get(key)
        count = 1 if before is None else before.count + 1
        self.get_table(table)[key] = Expected(now.seq, values, count)

    def take(self, entry_type: str, payload: Payload, now: EntryOrigin) -> None:
        """What this entry does to the rows. Many types do nothing."""
        self.seq = now.seq
        take = _TAKES.get(entry_type)
        if take is not None:
            take(self, payload, now)

    def revoke_grants(self, now: EntryOrigin) -> None:
        """The run was closed."""
        for grant in self.get_table("grant").values():
            if grant.values["state"] == GrantState.ISSUED:
                grant.change(now, state=GrantState.REVOKED.value, ended_at=now.at)

    def mark_regretted(self, now: EntryOrigin) -> None:
        """The run ended badly: see `mark_regretted` of `reviews.plan`."""
        facts = self.get_table("ruling fact").items()
        others = [pair for pair in facts if pair[1].values["action"] != "abort"]
        if not others:
            return
        (review,), last = others[-1]
        if last.values["action"] in APPROVING and self._was_used(review, last):
            last.change(now, regretted=True)

    def mark_failed_call(self, call: str, now: EntryOrigin) -> None:
        """A call failed that a person had let run."""
        for review, asked in self.call_by_review.items():
            ruled = self.get_table("ruling fact").get((review,))
            if asked == call and ruled and ruled.values["action"] in APPROVING:
                ruled.change(now, regretted=True)

    def _was_used(self, review: str, ruled: Expected) -> bool:
        if ruled.values["kind"] != Kind.CONFIRMATION:
            return True
        call = self.call_by_review.get(review, "")
        grant = self.get_table("grant").get((call,))
        return grant is not None and grant.values["state"] == GrantState.SPENT


Take = Callable[[ExpectedRows, Payload, EntryOrigin], None]


_BACK = {"snoozed_until": None, "snoozed_for": ""}


def _open_review(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add(
        "review",
        payload["review"],
        now=now,
        project=rows.project_id,
        kind=payload["kind"],
        title=payload["title"],
        content=payload["content_digest"],
        content_digest=payload["content_digest"],
        severity=payload.get("severity", UNKNOWN),
        reversibility=payload.get("reversibility", UNKNOWN),
        step_number=payload["step"],
        opened_at=now.at,
        answer_by=payload.get("answer_by", UNKNOWN),
        late_at=None,
        due_at=payload["due_at"],
        on_expiry=payload["on_expiry"],
        version=payload["version"],
        state=ReviewState.OPEN.value,
        closed_at=None,
        assignee=None,
        assigned_at=None,
        claimed_at=None,
        **_BACK,
        approvals_needed=payload.get("approvals_needed", 1),
        approvals_given=0,
    )


def _keep_approval(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    review = rows.get_table("review")[payload["review"],]
    version = payload["version"]
    review.change(now, version=version + 1, approvals_given=payload["given"])
    held = rows.get_table("held ruling").get(
        (payload["review"], now.actor.removeprefix("user:"))
    )
    if held is not None:  # sent by its page, or said once more by a program
        held.may_be_gone = True
    amended, allowed = payload.get("amended"), payload.get("allowance")
    rows.add(
        "approval",
        payload["review"],
        str(version),
        now=now,
        action=payload["action"],
        note=payload["note"],
        amended=None if amended is None else to_canonical_json(amended),
        findings=to_canonical_json(payload.get("amended_findings", [])),
        allowance=None if allowed is None else to_canonical_json(allowed),
        by=now.actor,
        at=now.at,
    )


def _note_late(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.get_table("review")[payload["review"],].change(now, late_at=now.at)


def _claim_review(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    review = rows.get_table("review")[payload["review"],]
    if review.values["assignee"] != now.actor:
        review.change(now, assigned_at=None)
    review.change(now, assignee=now.actor, claimed_at=now.at, **_BACK)


def _release_review(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    review, assignee = (
        rows.get_table("review")[payload["review"],],
        payload.get("assignee"),
    )
    given = review.values["assigned_at"] if assignee else None
    review.change(now, assignee=assignee, assigned_at=given, claimed_at=None)


def _assign_review(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.get_table("review")[payload["review"],].change(
        now,
        assignee=payload["to"],
        assigned_at=now.at if payload["to"] else None,
        claimed_at=None,
        **_BACK,
    )


def _snooze_review(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.get_table("review")[payload["review"],].change(
        now, snoozed_until=payload["until"], snoozed_for=payload["event"]
    )


def _return_review(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.get_table("review")[payload["review"],].change(now, **_BACK)


def _add_comment(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    review = rows.get_table("review")[payload["review"],]
    if review.values["snoozed_for"] == SnoozedFor.COMMENT:
        review.change(now, **_BACK)
    author = now.actor.removeprefix("user:")
    rows.add("comment", payload["review"], author, now.at, payload["text"], now=now)


def _end_review(state: ReviewState) -> Take:
    def end(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
        review = rows.get_table("review")[payload["review"],]
        version = review.values["version"] + 1
        review.change(now, state=state.value, version=version, closed_at=now.at)
        for (code, _), held in rows.get_table("held ruling").items():
            if code == payload["review"]:
                held.may_be_gone = True

    return end


def _hold_ruling(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    key = (payload["review"], now.actor.removeprefix("user:"))
    rows.get_table("held ruling").pop(key, None)
    sealed = payload.get("sealed", UNKNOWN)
    rows.add(
        "held ruling",
        *key,
        now=now,
        held_at=now.at,
        due_at=payload["due_at"],
        sealed=sealed,
    )


def _drop_held(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    person = payload.get("by", now.actor).removeprefix("user:")
    rows.get_table("held ruling").pop((payload["review"], person), None)


def _rule(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    _end_review(ReviewState.RULED)(rows, payload, now)
    amended = payload.get("amended")
    rows.add(
        "ruling",
        payload["review"],
        now=now,
        action=payload["action"],
        note=payload["note"],
        answer=payload["answer"],
        amended=None if amended is None else to_canonical_json(amended),
        by=now.actor,
        at=now.at,
    )
    if "approved_by" in payload:
        review = rows.get_table("review")[payload["review"],]
        review.change(now, approvals_given=len(payload["approved_by"]))
    opened = rows.get_table("review")[payload["review"],].values["opened_at"]
    rows.add(
        "ruling fact",
        payload["review"],
        now=now,
        project=rows.project_id,
        action=payload["action"],
        kind=payload["kind"],
        took_ms=measure_ms(*map(datetime.fromisoformat, (opened, now.at))),
        read_ms=payload.get("read_ms"),
        regretted=False,
        by=now.actor,
        at=now.at,
    )
    if payload.get("grant") is not None:
        call = rows.call_by_review[payload["review"]]
        add_grant(rows, payload["grant"], call, now)
    if payload.get("permission") is not None:
        _permit(rows, payload, now)
    if "check" in payload:
        set_check_state(rows, payload["check"], payload["check_state"], now)


def _permit(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    permission = payload["permission"]
    call = rows.call_by_review[payload["review"]]
    rows.add(
        "permission",
        permission["id"],
        now=now,
        project=rows.project_id,
        review=payload["review"],
        scope=permission["scope"],
        tool=rows.get_table("call")[call,].values["tool"],
        key=build_permission_key(permission["covers"]),
        covers=permission["covers"],
        rules=permission["rules"],
        granted_by=now.actor,
        granted_at=now.at,
        expires_at=permission["expires_at"],
        uses=permission["uses"],
        uncounted=0,
        revoked_by=None,
        revoked_at=None,
    )


def _revoke(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    permission = rows.get_table("permission")[payload["permission"],]
    if permission.values["revoked_at"] is None:  # taken back twice is taken back
        permission.change(now, revoked_by=now.actor, revoked_at=now.at)


def _add_exemption(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add(
        "exemption",
        payload["exemption"],
        now=now,
        project=rows.project_id,
        call=payload["call"],
        fingerprint=payload["fingerprint"],
        label=payload["label"],
        reason=payload["reason"],
        made_by=now.actor,
        made_at=now.at,
        revoked_by=None,
        revoked_at=None,
    )


def _end_exemption(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    exemption = rows.get_table("exemption")[payload["exemption"],]
    if exemption.values["revoked_at"] is None:  # taken back twice is taken back
        exemption.change(now, revoked_by=now.actor, revoked_at=now.at)


def add_grant(
    rows: ExpectedRows,
    grant: Payload,
    call: str,
    now: EntryOrigin,
    *,
    permission: str | None = None,
) -> None:
    rows.add(
        "grant",
        call,
        now=now,
        code=grant["id"],
        digest=grant["digest"],
        policy_hash=rows.get_table("call")[call,].values["policy"],
        permission=permission,
        issued_at=now.at,
        expires_at=grant["expires_at"],
        state=GrantState.ISSUED.value,
        ended_at=None,
    )


def set_check_state(
    rows: ExpectedRows, check: str, state: Payload, now: EntryOrigin
) -> None:
    rows.get_table("check")[check,].change(
        now,
        state=to_canonical_json(state),
        status=CheckState.from_json(state).status,
        updated_at=now.at,
    )


def _acknowledge(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    key = payload["warning"]
    rows.add("acknowledgement", key, now=now, by=now.actor, at=now.at)


def _save_checkpoint(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add(
        "checkpoint",
        payload["checkpoint"],
        now=now,
        step=payload["step"],
        label=payload["label"][:200],
        state=payload["state_digest"],
        created_at=now.at,
    )


def _redact_checkpoint(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    checkpoint = rows.get_table("checkpoint")[payload["checkpoint"],]
    checkpoint.change(now, state=payload["state_digest"])


def _close_run(rows: ExpectedRows, _payload: Payload, now: EntryOrigin) -> None:
    rows.revoke_grants(now)


def _abort_run(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    _close_run(rows, payload, now)
    if now.actor.startswith("user:") and "above" not in payload:
        rows.mark_regretted(now)


_TAKES: dict[str, Take] = {
    "review.opened": _open_review,
    "review.late": _note_late,
    "review.claimed": _claim_review,
    "review.released": _release_review,
    "review.assigned": _assign_review,
    "review.snoozed": _snooze_review,
    "review.returned": _return_review,
    "review.commented": _add_comment,
    "review.held": _hold_ruling,
    "review.taken_back": _drop_held,
    "review.unsent": _drop_held,
    "review.approved": _keep_approval,
    "review.amended": _keep_approval,
    "review.ruled": _rule,
    "review.withdrawn": _end_review(ReviewState.WITHDRAWN),
    "review.expired": _end_review(ReviewState.EXPIRED),
    "review.superseded": _end_review(ReviewState.SUPERSEDED),
    "permission.revoked": _revoke,
    "exemption.made": _add_exemption,
    "exemption.revoked": _end_exemption,
    "warning.acknowledged": _acknowledge,
    "checkpoint.saved": _save_checkpoint,
    "checkpoint.redacted": _redact_checkpoint,
    **dict.fromkeys(CLOSING, _close_run),
    "run.aborted": _abort_run,
}


def register_entry_rows(entry_type: str, take: Take) -> None:
    """For apps above this one, at start-up: what their entries do to these rows."""
    _TAKES[entry_type] = take


def list_types() -> list[str]:
    """The entry types that change a row, but for steps: those that do are found by what
    they decided."""
    return [name for name in _TAKES if not name.startswith("step.")]
