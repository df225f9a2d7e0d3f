"""End a person's own sign-ins, and change their password."""

from __future__ import annotations

from accounts.auth import PersonPrincipal, build_person_principal
from accounts.models import SignIn, User
from accounts.people.sign_ins import end_sign_ins, list_open_sign_ins
from accounts.services import store_own_password
from common.errors import NotFound
from common.ids import parse_code
from reviews.administration.chain import AuditEntry
from reviews.administration.described_rows import describe_password
from reviews.administration.own.recording import record_for_person
from reviews.administration.people.joining import USED
from reviews.administration.people.password_links import find_linked_user


def end_sign_in(*, by: PersonPrincipal, code: str) -> None:
    """Sign out in one browser."""
    known = parse_code(code)
    rows = list_open_sign_ins(user_id=by.user_id)
    found = rows.filter(code=known).first() if known else None
    if found is None:
        raise NotFound
    one = SignIn.objects.filter(pk=found.pk)
    record_for_person(
        by=by,
        user_id=by.user_id,
        entries=[_build_ended_entry(by, [found.browser])],
        store=lambda at: end_sign_ins(one),
    )


def end_other_sign_ins(*, by: PersonPrincipal, session_key: str | None) -> int:
    """Sign out everywhere but in the browser of this session; how many there were."""
    others = list_open_sign_ins(user_id=by.user_id).exclude(session_key=session_key)
    browsers = list(others.values_list("browser", flat=True))
    if not browsers:
        return 0
    return record_for_person(
        by=by,
        user_id=by.user_id,
        entries=[_build_ended_entry(by, browsers)],
        store=lambda at: end_sign_ins(others),
    )


def change_own_password(*, user: User, password: str) -> None:
    """It ends the person's other sign-ins and their tokens. The hash is computed here,
    not while a project is locked."""
    ends = not user.must_change_password
    user.set_password(password)
    record_for_person(
        by=build_person_principal(user),
        user_id=user.pk,
        entries=[_build_password_entry(user, ends_tokens=ends)],
        store=lambda at: store_own_password(user=user),
    )


def store_stronger_hash(user: User) -> None:
    """The same password, kept in the way that is the strongest by now."""
    payload = describe_password(user, must_change=user.must_change_password)
    record_for_person(
        by=build_person_principal(user),
        user_id=user.pk,
        entries=[AuditEntry("password.rehashed", payload)],
        store=lambda at: user.save(update_fields=["password"]),
    )


def change_linked_password(*, user: User, token: str, password: str) -> None:
    """By the link that an admin made: every token ends.

    Whether it still works is asked again here: it may have been used, or its maker
    removed, since the page was opened.
    """

    def check() -> None:
        if find_linked_user(code=str(user.code), token=token) is None:
            raise NotFound(USED)

    user.set_password(password)
    record_for_person(
        by=build_person_principal(user),
        user_id=user.pk,
        entries=[_build_password_entry(user, ends_tokens=True)],
        store=lambda at: store_own_password(user=user, by_link=True),
        check=check,
    )


def _build_password_entry(user: User, *, ends_tokens: bool) -> AuditEntry:
    about = describe_password(user, must_change=False)
    return AuditEntry("password.changed", {**about, "ends_tokens": ends_tokens})


def _build_ended_entry(by: PersonPrincipal, browsers: list[str]) -> AuditEntry:
    about = {"person": by.user_code, "name": by.username}
    return AuditEntry("sign_in.ended", {**about, "browsers": browsers})
