"""The rows of reviews, rulings and permissions as they follow from a run's entries: what the
writer must have stored."""

from __future__ import annotations

from datetime import datetime

from guidance.core.canonical import to_canonical_json
from guidance.core.checks import CheckState
from guidance.core.tools.permission_shapes import build_permission_key
from reviews.models import GrantState, ReviewState, SnoozedFor
from reviews.queue.subjects import measure_ms
from reviews.row_checks.rows import (
    UNKNOWN,
    EntryOrigin,
    ExpectedRows,
    Payload,
    Take,
    register_entry_rows,
)

# They revoke the grants of their run, also of a stopped one that may be reopened.
CLOSING = ("run.finished", "run.stopped", "run.aborted", "run.abandoned")
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


for _kind, _take in {
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
}.items():
    register_entry_rows(_kind, _take)
