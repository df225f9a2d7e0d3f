"""What people do: rule, claim, release, comment, abort and reopen.

Each is one change request to the ledger's writer, judged under the project's lock by the
database's clock, so the first valid ruling wins and nothing is ruled after its time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import require_role
from common.errors import DomainError, Forbidden, NotFound, PreconditionRequired
from common.ids import parse_code
from common.responses import Reply, build_reply
from ledger.chain import format_timestamp
from ledger.models import Run
from ledger.trees.descendants import list_open_below
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.errors import AlreadyRuled, ReviewExpired, ReviewNotOpen, RunClosed
from reviews.models import AdvisoryWarning, Kind, Review, ReviewState
from reviews.rulings.amendments import refuse_unconfirmed
from reviews.rulings.approvals import build_approval
from reviews.rulings.from_sessions import refuse_from_session
from reviews.rulings.gate_choices import build_choice
from reviews.rulings.reading_proof import refuse_unread
from reviews.rulings.rule import (
    AddComment,
    ClaimReview,
    ReleaseReview,
    ReviewChangeRequest,
    RuleReview,
)
from reviews.rulings.run_control import AbortRun, AcknowledgeWarning, ReopenRun
from reviews.schemas.reviews import BudgetIn, RememberIn, RulingIn
from reviews.selectors import (
    build_ruled_answer,
    get_review_for_change,
    get_visible_review,
    get_visible_run,
)
from reviews.serializers import build_ruling_answer


def submit_ruling_now(*, review: Review, person: PersonPrincipal, **said: Any) -> None:
    """Rule on a review; the loser of a race is told who won and how.

    Like all of these it takes a review that was loaded for this person.
    """
    _perform(build_ruling_request(review=review, person=person, **said))


async def submit_ruling(
    *,
    review_code: str,
    person: PersonPrincipal,
    body: RulingIn,
    session: str | None,
) -> Reply:
    """Rule for a program; returns the review after it. An agent waits for this:
    nothing here takes a thread for longer than a read. `session` is the agent's session
    that the program says it runs in, None outside of one."""
    said = {name: getattr(body, name) for name in RulingIn.model_fields}

    def build() -> RuleReview:
        review = get_review_for_change(user_id=person.user_id, code=review_code)
        refuse_from_session(session, run=review.run, person=person)
        return build_ruling_request(review=review, person=person, **said)

    try:
        await get_writer().perform(await run_in_db_thread(build))
    except ReviewNotOpen:
        raise await run_in_db_thread(
            partial(_build_closed_error, person, review_code)
        ) from None
    shown = partial(build_ruled_answer, user_id=person.user_id, code=review_code)
    return build_reply(await run_in_db_thread(shown))


def build_ruling_request(
    *,
    review: Review,
    person: PersonPrincipal,
    action: str,
    version: int | None,
    content_digest: str | None,
    note: str = "",
    answer: str | None = None,
    amended: dict[str, Any] | None = None,
    remember: RememberIn | None = None,
    confirmed: str = "",
    take_over: str | None = None,
) -> RuleReview:
    """Build the change request for a ruling."""
    if version is None or content_digest is None:
        raise PreconditionRequired(
            "Send the version and content_digest of the review that you read."
        )
    if review.kind == Kind.POLICY_CHANGE:
        require_role(
            user_id=person.user_id, project_id=review.project_id, role=Role.MANAGER
        )
    if action in {"approve", "amend"} and person.token_id is None:
        # A program is served everything at once; a screen shows it page by page.
        refuse_unread(review, user_id=person.user_id)
    approval = build_approval(review, action=action, amended=amended, remember=remember)
    if approval is not None and approval.amendment and person.token_id is None:
        # What a program sends was written on purpose; on a screen a slip is one key.
        refuse_unconfirmed(approval.amendment, confirmed)
    return RuleReview(
        review=review,
        person=person,
        action=action,
        version=version,
        content_digest=content_digest,
        note=note,
        answer=answer,
        approval=approval,
        choice=build_choice(review, action=action, note=note),
        take_over=take_over,
    )


def submit_claim(
    *, review: Review, person: PersonPrincipal, take_over: str | None = None
) -> None:
    _perform(ClaimReview(review=review, person=person, take_over=take_over))


def submit_release(*, review: Review, person: PersonPrincipal) -> None:
    if review.assignee_id != person.user_id:
        try:
            require_role(
                user_id=person.user_id,
                project_id=review.project_id,
                role=Role.MANAGER,
            )
        except Forbidden:
            raise Forbidden(
                "Only its claimer or a manager releases a review."
            ) from None
    _perform(ReleaseReview(review=review, person=person))


def submit_comment(*, review: Review, person: PersonPrincipal, text: str) -> None:
    _perform(AddComment(review=review, person=person, text=text))


def submit_abort(
    *, run_code: str, person: PersonPrincipal, reason: str, children: bool = False
) -> None:
    """With `children` also every open run below it, each by an entry of its own.

    From the top: no closed run starts another one. Sent again after a crash it goes on where
    it ended; a run that is over is refused only where nothing below it was open.
    """
    run = get_visible_run(user_id=person.user_id, code=run_code)
    abort = partial(AbortRun, person=person, reason=reason)
    closed = None
    try:
        get_writer().perform_now(abort(run_code=str(run.code)))
    except RunClosed as error:
        closed = error
    reached = children and _abort_below(run, partial(abort, above=str(run.code)))
    if closed is not None and not reached:
        raise closed


def _abort_below(run: Run, abort: Callable[..., AbortRun]) -> bool:
    """Whether there was any. Looks again until none is open: one that was not reached yet
    may have started another one meanwhile."""
    reached = False
    while codes := list_open_below(run):
        for code in codes:
            with suppress(RunClosed):  # it ended by itself meanwhile
                get_writer().perform_now(abort(run_code=str(code)))
                reached = True
    return reached


def submit_reopen(
    *,
    run_code: str,
    person: PersonPrincipal,
    budget: BudgetIn,
    reason: str,
    session: str | None = None,
) -> None:
    run = get_visible_run(user_id=person.user_id, code=run_code)
    refuse_from_session(session, run=run, person=person)
    require_role(user_id=person.user_id, project_id=run.project_id, role=Role.MANAGER)
    get_writer().perform_now(
        ReopenRun(run_code=str(run.code), person=person, budget=budget, reason=reason)
    )


def submit_acknowledgement(
    *,
    run_code: str,
    warning_code: str,
    person: PersonPrincipal,
    session: str | None = None,
) -> None:
    run = get_visible_run(user_id=person.user_id, code=run_code)
    refuse_from_session(session, run=run, person=person)
    known = parse_code(warning_code)
    warning = (
        AdvisoryWarning.objects.filter(run=run, code=known).first() if known else None
    )
    if warning is None:
        raise NotFound
    if warning.acknowledged_at is None:
        get_writer().perform_now(
            AcknowledgeWarning(run_code=str(run.code), warning=warning, person=person)
        )


def _perform(change_request: ReviewChangeRequest) -> None:
    """A closed review says how it ended."""
    try:
        get_writer().perform_now(change_request)
    except ReviewNotOpen:
        raise _build_closed_error(
            change_request.person, change_request.review_code
        ) from None


def _build_closed_error(person: PersonPrincipal, review_code: str) -> DomainError:
    review = get_visible_review(user_id=person.user_id, code=review_code)
    if review.state == ReviewState.EXPIRED:
        return ReviewExpired(
            f"Nobody ruled before {format_timestamp(review.due_at)}: "
            f"the outcome was {review.on_expiry}."
        )
    ruling = build_ruling_answer(review)
    if ruling is None:
        return AlreadyRuled(
            f"The review is {review.state}: it needs no ruling any more.",
            state=review.state,
            ruling=None,
        )
    return AlreadyRuled(
        f"{ruling['by']} ruled {ruling['action']} at {ruling['at']}.",
        state=review.state,
        ruling=ruling,
    )
