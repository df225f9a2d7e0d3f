"""The matrix: each edit of a row, and what is said of it."""

from __future__ import annotations

OF_RUN = "run_id = {run}"
OF_REVIEWS = "review_id IN (SELECT id FROM reviews_review WHERE run_id = {run})"
RULING = f"id = (SELECT min(id) FROM reviews_ruling WHERE {OF_REVIEWS})"
SET = "UPDATE reviews_{table} SET {what} WHERE {which}"


def first(table: str, more: str = "true") -> str:
    return f"id = (SELECT min(id) FROM reviews_{table} WHERE {OF_RUN} AND {more})"


def change(table: str, what: str, which: str) -> str:
    return SET.format(table=table, what=what, which=which)


OTHER = "(SELECT max(id) FROM accounts_project)"


# What is done; the entry that knows better, by its type; a word of what is said.
EDITS: dict[str, tuple[str, str, str]] = {
    "T16: every approval became a denial": (
        change("ruling", "action = 'deny'", f"action = 'approve' AND {OF_REVIEWS}"),
        "review.ruled",
        'has action "deny", the chain says "approve"',
    ),
    "T16b: every grant was deleted": (
        f"DELETE FROM reviews_grant WHERE {OF_RUN}",
        "call.claimed",
        "is missing",
    ),
    "a ruling's note": (
        change("ruling", "note = 'x'", RULING),
        "review.ruled",
        "has note",
    ),
    "a ruling's person": (
        change(
            "ruling",
            "by_id = (SELECT max(id) FROM accounts_user WHERE id <> by_id)",
            RULING,
        ),
        "review.ruled",
        "has by",
    ),
    "what a person let run instead": (
        change("ruling", "amended = '{{}}'", f"amended IS NOT NULL AND {OF_REVIEWS}"),
        "review.ruled",
        "has amended",
    ),
    "a ruling was deleted": (
        f"DELETE FROM reviews_ruling WHERE {RULING}",
        "review.ruled",
        "is missing",
    ),
    "how long a ruling took": (
        change("rulingfact", "took_ms = took_ms + 60000", first("rulingfact")),
        "review.ruled",
        "has took_ms",
    ),
    "how long a person read": (
        change("rulingfact", "read_ms = 60000", first("rulingfact")),
        "review.ruled",
        "has read_ms",
    ),
    "a regret that was none": (
        change("rulingfact", "regretted = true", first("rulingfact")),
        "review.ruled",
        "has regretted true, the chain says false",
    ),
    "a ruling was left out of the list": (
        f"DELETE FROM reviews_rulingfact WHERE {first('rulingfact')}",
        "review.ruled",
        "is missing",
    ),
    "a review's content": (
        change("review", "content = '{{}}'", first("review")),
        "review.ruled",
        "has content",
    ),
    "a review's state": (
        change("review", "state = 'withdrawn'", first("review")),
        "review.ruled",
        'has state "withdrawn", the chain says "ruled"',
    ),
    "an open review was closed": (
        change(
            "review",
            "state = 'superseded', closed_at = opened_at",
            f"{OF_RUN} AND state = 'open'",
        ),
        "review.opened",
        'has state "superseded", the chain says "open"',
    ),
    "a review's deadline": (
        change(
            "review",
            "due_at = '2100-01-01 00:00:00+00'",
            f"{OF_RUN} AND state = 'open'",
        ),
        "review.opened",
        "has due_at",
    ),
    "who claimed it": (
        change("review", "assignee_id = NULL", first("review")),
        "review.ruled",
        "has assignee",
    ),
    "a comment": (
        f"UPDATE reviews_comment SET text = 'Never' WHERE {OF_REVIEWS}",
        "review.commented",
        "is missing",
    ),
    "a call's decision": (
        change(
            "toolcall", "decision = 'allow'", first("toolcall", "decision <> 'allow'")
        ),
        "call.settled",
        "has decision",
    ),
    "a call's result": (
        change("toolcall", "output = '\"other\"'", first("toolcall", "ok")),
        "call.settled",
        "has output",
    ),
    "a spent grant may be claimed again": (
        change("grant", "state = 'issued', ended_at = NULL", first("grant")),
        "call.claimed",
        'has state "issued", the chain says "spent"',
    ),
    "a grant for another call": (
        change("grant", "digest = 'sha256:0'", first("grant")),
        "call.claimed",
        "has digest",
    ),
    "a grant lives longer": (
        change("grant", "expires_at = '2100-01-01 00:00:00+00'", first("grant")),
        "call.claimed",
        "has expires_at",
    ),
    "a permission covers more": (
        change("permission", "covers = '#'", OF_RUN),
        "review.ruled",
        "has covers",
    ),
    "a permission by its key": (
        change("permission", "key = 'sha256:0'", OF_RUN),
        "review.ruled",
        "has key",
    ),
    "a permission has more uses": (
        change("permission", "uses_left = 999", OF_RUN),
        "review.ruled",
        "has uses",
    ),
    "a permission's use was not counted": (
        change("permission", "used = 0, uses_left = uses_left + 1", OF_RUN),
        "review.ruled",
        "has uncounted",
    ),
    "a permission lets calls of another project through": (
        change("permission", f"project_id = {OTHER}", OF_RUN),
        "review.ruled",
        "has project",
    ),
    "a permission's tool": (
        change("permission", "tool = 'other'", OF_RUN),
        "review.ruled",
        "has tool",
    ),
    "an exemption is for another value": (
        change("exemption", "fingerprint = '00000000'", first("exemption")),
        "exemption.made",
        "has fingerprint",
    ),
    "an exemption in another project": (
        change("exemption", f"project_id = {OTHER}", first("exemption")),
        "exemption.made",
        "has project",
    ),
    "an exemption's reason": (
        change("exemption", "reason = 'x'", first("exemption")),
        "exemption.made",
        "has reason",
    ),
    "an exemption stands again": (
        change("exemption", "revoked_at = NULL", f"{OF_RUN} AND revoked_at > made_at"),
        "exemption.revoked",
        "has revoked_at",
    ),
    "an exemption was deleted": (
        f"DELETE FROM reviews_exemption WHERE {first('exemption')}",
        "exemption.made",
        "is missing",
    ),
    "a review stands in another project": (
        change("review", f"project_id = {OTHER}", first("review")),
        "review.ruled",
        "has project",
    ),
    "a call stands in another project": (
        change("toolcall", f"project_id = {OTHER}", first("toolcall")),
        "call.settled",
        "has project",
    ),
    "a call answers for another": (
        change("toolcall", "key = 'other'", first("toolcall")),
        "call.settled",
        "has key",
    ),
    "a check stands in another project": (
        change("gatecheck", f"project_id = {OTHER}", first("gatecheck")),
        "check.judged",
        "has project",
    ),
    "a warning by its id": (
        "UPDATE reviews_advisorywarning SET code = "
        f"(SELECT code FROM ledger_run WHERE id = {{run}}) WHERE {OF_RUN}",
        "check.judged",
        "has code",
    ),
    "a check passed": (
        change("gatecheck", "status = 'passed'", first("gatecheck")),
        "check.judged",
        "has status",
    ),
    "a check's history": (
        change("gatecheck", "state = '{{}}'", first("gatecheck")),
        "check.judged",
        "has state",
    ),
    "a warning was deleted": (
        f"DELETE FROM reviews_advisorywarning WHERE {OF_RUN}",
        "check.judged",
        "is missing",
    ),
    "a warning was acknowledged": (
        "UPDATE reviews_advisorywarning SET acknowledged_at = at, acknowledged_by_id = "
        f"(SELECT max(id) FROM accounts_user) WHERE {OF_RUN}",
        "review.opened",
        "no entry tells of it",
    ),
    "a checkpoint's state": (
        f"UPDATE ledger_checkpoint SET state = '[]' WHERE {OF_RUN}",
        "checkpoint.saved",
        "has state",
    ),
    "T17: the run's status": (
        "UPDATE ledger_run SET status = 'running' WHERE id = {run}",
        "review.opened",
        "the run's status",
    ),
    "the run's deadline for a review": (
        "UPDATE ledger_run SET open_reviews = '[]' WHERE id = {run}",
        "review.opened",
        "the run's open_reviews",
    ),
    "the run's budget": (
        "UPDATE ledger_run SET tokens_limit = 999 WHERE id = {run}",
        "review.opened",
        "the run's tokens_limit",
    ),
}
