"""What the entries of calls and checks do to their rows, for the comparison with the chain."""

from __future__ import annotations

from gateway.stored_outcomes import build_outcome_figures, read_reported_violation
from guidance.core.arguments import build_call_key
from guidance.core.canonical import hash_text, to_canonical_json
from reviews.models import GrantState
from reviews.row_checks import (
    UNKNOWN,
    EntryOrigin,
    ExpectedRows,
    Payload,
    Take,
    add_grant,
    register_entry_rows,
    set_check_state,
)


def register_rows() -> None:
    register_entry_rows("call.judged", _judge_call)
    register_entry_rows("call.claimed", _end_grant(GrantState.SPENT))
    register_entry_rows("call.expired", _end_grant(GrantState.EXPIRED))
    register_entry_rows("call.settled", _settle_call)
    register_entry_rows("check.opened", _open_check)
    register_entry_rows("check.judged", _judge_check)
    register_entry_rows("model.asked", _ask_model)
    register_entry_rows("shadow.judged", _judge_in_shadow)
    register_entry_rows("step.judged", _add_violations)
    register_entry_rows("run.finished", _finish_run)
    register_entry_rows("violation.recorded", _record_violation)


def _judge_call(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    review = payload["review"]["id"] if payload["review"] else None
    if review is not None:
        rows.call_by_review[review] = payload["call"]
    rows.add(
        "call",
        payload["call"],
        now=now,
        project=rows.project_id,
        kind=payload["kind"],
        tool=payload["tool"][:200],
        key=_build_key(rows, payload),
        digest=payload["digest"],
        decision=payload["decision"],
        review=review,
        seq=now.seq,
        judged_at=now.at,
        ok=None,
        output=None,
        result_digest="",
        settled_at=None,
        facts=to_canonical_json(payload["facts"]) if "facts" in payload else None,
        policy=payload["policy"]["hash"],
    )
    _add_violations(rows, payload, now)
    sealed = (payload.get("first_look") or {}).get("sealed")
    if sealed is not None:
        rows.add("sealed look", payload["call"], now=now, sealed=sealed)
    if payload["grant"] is not None:
        used = payload["permission"]
        permission = None if used is None else used["id"]
        add_grant(rows, payload["grant"], payload["call"], now, permission=permission)


def _add_violations(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    """Entries that were written before violations were kept have none."""
    call = payload.get("call")
    for place, violation in enumerate(payload.get("violations", ())):
        _add_violation(rows, now, place, violation, source="gate", call=call)


def _add_violation(
    rows: ExpectedRows,
    now: EntryOrigin,
    place: int,
    violation: Payload,
    *,
    source: str,
    call: str | None = None,
) -> None:
    rows.add(
        "violation",
        str(now.seq),
        str(place),
        now=now,
        project=rows.project_id,
        at=now.at,
        rule=violation["rule"],
        severity=violation["severity"],
        source=source,
        gate=violation.get("gate", ""),
        decision=violation.get("decision", ""),
        auto_corrected=violation.get("auto_corrected", False),
        destructive=violation.get("destructive", False),
        text=violation["text"],
        call=call,
    )


def _record_violation(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    violation = read_reported_violation(payload)
    _add_violation(rows, now, 0, violation, source="agent")


def _finish_run(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.revoke_grants(now)
    failed = payload.get("status", payload["outcome"]) == "failed"
    if failed or payload.get("accepted") is False:
        rows.mark_regretted(now)
    if "seen" not in payload:  # written before runs were judged by what was seen
        return
    rows.add(
        "outcome",
        rows.run_code,
        now=now,
        project=rows.project_id,
        at=now.at,
        accepted=payload["accepted"],
        evaluations=to_canonical_json(payload["evaluations"]),
        **build_outcome_figures(payload),
    )
    for place, told in enumerate(payload["violations"]):
        violation = read_reported_violation(told)
        _add_violation(rows, now, place, violation, source="agent")


def _build_key(rows: ExpectedRows, payload: Payload) -> str:
    """Empty where a call is never repeated: something of it was not kept, or not read."""
    shown = payload["shown"]
    unread = payload["kind"] == "tool" and shown.get("arguments_json")
    if payload["redacted"] or unread:
        return ""
    return build_call_key(
        run=rows.run_code,
        tool=payload["tool"],
        arguments={"kind": payload["kind"], **shown},
        policy_hash=payload["policy"]["hash"],
    )


def _end_grant(state: GrantState) -> Take:
    def end(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
        grant = rows.get_table("grant")[payload["call"],]
        grant.change(now, state=state.value, ended_at=now.at)

    return end


def _settle_call(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    if not payload["claimed"]:
        _end_grant(GrantState.SPENT)(rows, payload, now)
    whole = payload["ok"] and not payload["redacted"]
    rows.get_table("call")[payload["call"],].change(
        now,
        ok=payload["ok"],
        output=to_canonical_json(payload["output"]) if whole else None,
        result_digest=hash_text(to_canonical_json({**payload, "claimed": None})),
        settled_at=now.at,
    )
    if not payload["ok"]:
        rows.mark_failed_call(payload["call"], now)


def _open_check(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    rows.add(
        "check",
        payload["check"],
        now=now,
        project=rows.project_id,
        step=payload["step"],
        gates=to_canonical_json(payload["gates"]),
        opened_at=now.at,
        review=None,
    )
    set_check_state(rows, payload["check"], payload["state"], now)


def _judge_check(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    set_check_state(rows, payload["check"], payload["state"], now)
    if payload["review"] is not None:
        rows.get_table("check")[payload["check"],].change(
            now, review=payload["review"]["id"]
        )
    if payload["warning"] is not None:
        key = (payload["check"], now.at, payload["warning"])
        rows.add("warning", *key, now=now, code=payload.get("warning_id", UNKNOWN))


def _ask_model(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    names = ("purpose", "model", "tokens_in", "tokens_out", "cost_micros")
    rows.add(
        "request to a model",
        str(now.seq),
        now=now,
        project=rows.project_id,
        at=now.at,
        **{name: payload[name] for name in names},
    )


def _judge_in_shadow(rows: ExpectedRows, payload: Payload, now: EntryOrigin) -> None:
    names = ("gate", "rule", "move", "asks")
    rows.add(
        "shadow item",
        payload["id"],
        now=now,
        shadow=payload["shadow"],
        seq=now.seq,
        at=now.at,
        kind=payload["kind"],
        reason=payload["reason"] or "",
        tool=(payload.get("tool") or "")[:200],
        **{name: payload.get(name, "") for name in names},
    )
