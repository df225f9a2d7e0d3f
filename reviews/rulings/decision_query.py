"""The state of the decision that a run waits for, read by one prepared statement.

It runs for every agent that wakes, and an agent that wakes is waited for. To build the
same query by the ORM takes ten times as long as to answer it (bench waking).
"""

from __future__ import annotations

from typing import Any

from accounts.joins import JOIN_VALID_KEY, VALID_KEY, join_user
from common.ids import parse_code
from ledger.selectors import FROM_RUN
from ledger.writer import sql
from ledger.writer.sql import parse_uuid
from reviews.rulings.notice import DecisionState, build_decision_state
from reviews.serializers import build_ruling_from_row

_HAS_NOTES = """EXISTS (SELECT 1 FROM reviews_agentnote note
                WHERE note.run_id = run.id AND note.read_at IS NULL)"""


def _build_statement(*, with_key: bool, with_review: bool) -> str:
    return f"""
SELECT run.code, run.status, run.head_seq,
       review.code, review.kind, review.version, review.state,
       ruling.code, ruling.action, ruling.note, ruling.answer, ruling.amended,
       person.username, ruling.at, permit.code,
       {_HAS_NOTES}
  {FROM_RUN} {JOIN_VALID_KEY if with_key else ""}
  LEFT JOIN reviews_review review ON review.run_id = run.id
  LEFT JOIN reviews_ruling ruling ON ruling.review_id = review.id
  {join_user("person", "ruling.by_id")}
  LEFT JOIN reviews_toolcall asked ON asked.review_id = review.code
  LEFT JOIN reviews_grant permit ON permit.call_id = asked.code
 WHERE run.id = %s {"AND review.code = %s" if with_review else ""}
 ORDER BY review.id DESC LIMIT 1
"""


# By whether a key is looked at, and whether one review is named.
_STATEMENTS = {
    (with_key, with_review): _build_statement(
        with_key=with_key, with_review=with_review
    )
    for with_key in (True, False)
    for with_review in (True, False)
}


def get_decision_state(
    run_id: int, review_code: str | None, *, key_id: int | None = None
) -> DecisionState | None:
    """The answer, and the run's head at that moment.

    None if there is no such review, or if the key is no longer valid.
    """
    given: list[Any] = [run_id] if key_id is None else [key_id, run_id]
    if review_code is not None:
        named = parse_code(review_code)
        if named is None:
            return None
        given.append(named)
    statement = _STATEMENTS[key_id is not None, review_code is not None]
    rows = sql.execute(statement, given)
    return _build_state(*rows[0]) if rows else None


def is_key_valid(key_id: int) -> bool:
    return bool(sql.execute(VALID_KEY, [key_id]))


def _build_state(
    run: Any,
    status: str,
    head_seq: int,
    code: Any,
    kind: str,
    version: int,
    state: str | None,
    *more: Any,
) -> DecisionState:
    """The columns as docs/api.md shows them."""
    *ruling, has_notes = more
    answer = build_decision_state(
        run=str(parse_uuid(run)),
        status=status,
        state=state or "none",
        review={"id": str(parse_uuid(code)), "kind": kind, "version": version}
        if code
        else None,
        ruling=build_ruling_from_row(*ruling) if ruling[0] else None,
    )
    return DecisionState(answer, head_seq, bool(has_notes))
