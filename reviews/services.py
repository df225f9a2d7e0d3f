"""What people do: rule, note, abort and reopen.

Each is one change request to the ledger's writer, judged under the project's lock by the
database's clock, so the first valid ruling wins and nothing is ruled after its time.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import Role
from accounts.selectors import get_role, require_role
from common.errors import DomainError, Forbidden, NotFound, PreconditionRequired
from common.ids import parse_code
from common.responses import Reply, build_reply
from ledger.models import Run
from ledger.selectors import is_administration_run, is_system_run
from ledger.trees.descendants import list_open_below
from ledger.writer import get_writer
from ledger.writer.db_threads import run_in_db_thread
from reviews.agent_plans.approving import build_plan_approval
from reviews.allowances.giving import build_allowance
from reviews.errors import ReviewNotOpen, RulingNotHeld, RunClosed
from reviews.models import AdvisoryWarning, Kind, Review
from reviews.rulings.amendments import refuse_unconfirmed
from reviews.rulings.approvals import build_approval
from reviews.rulings.care import refuse_careless
from reviews.rulings.four_eyes import find_amendment
from reviews.rulings.from_sessions import refuse_from_session
from reviews.rulings.gate_choices import build_choice
from reviews.rulings.held import (
    HoldRuling,
    TakeBackRuling,
    drop_held,
    find_held,
    is_stale,
    read_said,
    write_said,
)
from reviews.rulings.perform import build_closed_error, perform_on_review
from reviews.rulings.reading_proof import find_shown_at, refuse_unread
from reviews.rulings.rule import RuleReview
from reviews.rulings.run_control import (
    AbortRun,
    AcknowledgeWarning,
    AddNote,
    ReopenRun,
)
from reviews.schemas.reviews import AllowanceIn, BudgetIn, RememberIn, RulingIn
from reviews.selectors import (
    build_ruled_answer,
    get_review_for_ruling,
    get_visible_review,
    get_visible_run,
)
from reviews.serializers import build_review_answer


def submit_ruling_now(
    *, review: Review, person: PersonPrincipal, **said: Any
) -> int | None:
    """Rule on a review; the loser of a race is told who won and how. Returns how many
    approvals there are if more are needed, None if the review is decided.

    Like all of these it takes a review that was loaded for this person.
    """
    request = build_ruling_request(review=review, person=person, **said)
    perform_on_review(request)
    return request.approvals_given


def submit_held_ruling(*, review: Review, person: PersonPrincipal, **said: Any) -> None:
    """Hold a ruling for a while, in which its person may take it back."""
    ruling = build_ruling_request(review=review, person=person, **said)
    perform_on_review(
        HoldRuling(review=review, person=person, ruling=ruling, said=write_said(said))
    )


def send_held_ruling(*, review: Review, person: PersonPrincipal) -> int | None:
    """Rule as the person has said; what is refused now is dropped, and said so."""
    held = find_held(review, user_id=person.user_id)
    if held is None:
        raise RulingNotHeld("It was taken back, sent already or dropped.")
    try:
        if is_stale(held, timezone.now()):
            raise RulingNotHeld("Its time is over: look at the review again.")
        request = build_ruling_request(review=review, person=person, **read_said(held))
        request.held_id = held.pk
        perform_on_review(request)
    except DomainError:
        drop_held(held, run_code=str(review.run.code), review_code=str(review.code))
        raise
    return request.approvals_given


def take_back_ruling(*, review: Review, person: PersonPrincipal) -> None:
    perform_on_review(TakeBackRuling(review=review, person=person))


async def submit_ruling(
    *,
    review_code: str,
    person: PersonPrincipal,
    body: RulingIn,
    session: str | None,
    folded: bool = False,
) -> Reply:
    """Rule for a program; returns the review after it. An agent waits for this:
    nothing here takes a thread for longer than a read. `session` is the agent's session
    that the program says it runs in, None outside of one."""
    said = {name: getattr(body, name) for name in RulingIn.model_fields}

    def build() -> RuleReview:
        review, seen = get_review_for_ruling(user_id=person.user_id, code=review_code)
        refuse_from_session(session, run=review.run, person=person)
        request = build_ruling_request(
            review=review, person=person, folded=folded, **said
        )
        request.seen_run = seen
        return request

    request = await run_in_db_thread(build)
    try:
        await get_writer().perform(request)
    except ReviewNotOpen:
        raise await run_in_db_thread(
            partial(build_closed_error, person, review_code)
        ) from None
    if request.approvals_given is not None:
        waiting = partial(_build_open_answer, person, review_code)
        return build_reply(await run_in_db_thread(waiting), status=202)
    shown = partial(build_ruled_answer, user_id=person.user_id, code=review_code)
    return build_reply(await run_in_db_thread(shown))


def _build_open_answer(person: PersonPrincipal, review_code: str) -> dict[str, Any]:
    review = get_visible_review(user_id=person.user_id, code=review_code)
    return build_review_answer(review)


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
    allowance: AllowanceIn | None = None,
    confirmed: str = "",
    take_over: str | None = None,
    folded: bool = False,
    unopened: bool = False,
) -> RuleReview:
    """Build the change request for a ruling. `folded` where the same action was on one
    that is alike, and came first; `unopened` where it was ruled among others."""
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
    refuse_careless(review, person=person, action=action, note=note)
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
        planned=build_plan_approval(
            review, action=action, amended=amended, changed=find_amendment(review)
        ),
        choice=build_choice(review, action=action, note=note),
        allowance=build_allowance(review, action=action, asked=allowance),
        take_over=take_over,
        folded=folded,
        shown_at=find_shown_at(review, user_id=person.user_id),
        unopened=unopened,
    )


def submit_abort(
    *, run_code: str, person: PersonPrincipal, reason: str, children: bool = False
) -> None:
    """With `children` also every open run below it, each by an entry of its own.

    From the top: no closed run starts another one. Sent again after a crash it goes on where
    it ended; a run that is over is refused only where nothing below it was open.
    """
    run = get_visible_run(user_id=person.user_id, code=run_code)
    require_role(user_id=person.user_id, project_id=run.project_id, role=Role.REVIEWER)
    _refuse_own_chain(run, person=person)
    abort = partial(AbortRun, person=person, reason=reason)
    closed = None
    try:
        get_writer().perform_now(abort(run_code=str(run.code)))
    except RunClosed as error:
        closed = error
    reached = children and _abort_below(run, partial(abort, above=str(run.code)))
    if closed is not None and not reached:
        raise closed


def _refuse_own_chain(run: Run, *, person: PersonPrincipal) -> None:
    """What the server itself writes is no agent's work, that a reviewer could end."""
    if is_administration_run(run):
        raise Forbidden(
            "This run tells who changed what in the project: nobody aborts it or adds "
            "a note to it."
        )
    if not is_system_run(run):
        return
    role = get_role(user_id=person.user_id, project_id=run.project_id)
    if not role.includes(Role.MANAGER):
        raise Forbidden(
            "This run is the server's own record. Managers may abort it or add a note."
        )


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
        ReopenRun(
            run_code=str(run.code),
            person=person,
            budget=budget,
            reason=reason,
            agent=run.agent.name,
        )
    )


def submit_note(*, run_code: str, person: PersonPrincipal, text: str) -> None:
    run = get_visible_run(user_id=person.user_id, code=run_code)
    require_role(user_id=person.user_id, project_id=run.project_id, role=Role.REVIEWER)
    _refuse_own_chain(run, person=person)
    get_writer().perform_now(AddNote(run_code=str(run.code), person=person, text=text))


def submit_acknowledgement(
    *,
    run_code: str,
    warning_code: str,
    person: PersonPrincipal,
    session: str | None = None,
) -> None:
    run = get_visible_run(user_id=person.user_id, code=run_code)
    require_role(user_id=person.user_id, project_id=run.project_id, role=Role.REVIEWER)
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
