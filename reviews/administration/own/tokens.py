"""A person's own tokens: made, listed and ended by that person, or by a command."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from accounts import secrets
from accounts.auth import PersonPrincipal, list_valid_tokens
from accounts.models import PersonalToken, User
from accounts.selectors import list_token_levels
from accounts.services import NewToken, issue_token, revoke_tokens
from common.errors import Invalid, NotFound, Unauthenticated
from common.ids import parse_code
from ledger.chain import format_timestamp
from reviews.administration.chain import AuditEntry
from reviews.administration.own.recording import record_for_person

LIMIT = 50


def list_tokens(*, user_id: int) -> QuerySet[PersonalToken]:
    """Those in force, newest first."""
    return list_valid_tokens().filter(user_id=user_id).order_by("-pk")


def get_token(*, user_id: int, code: str) -> PersonalToken:
    known = parse_code(code)
    found = list_tokens(user_id=user_id).filter(code=known).first() if known else None
    if found is None:
        raise NotFound
    return found


def create_token(
    *, by: PersonPrincipal, name: str, expires_at: datetime | None
) -> tuple[PersonalToken, str]:
    """The token and its secret, which is kept nowhere."""
    expires_at = _limit_expiry(by, expires_at)
    new = NewToken()
    user = User(code=by.user_code, username=by.username)
    entry = build_made_entry(user, new, name=name, expires_at=expires_at)

    def store(at: datetime) -> PersonalToken:
        return PersonalToken.objects.create(
            user_id=by.user_id,
            parent_id=by.token_id,
            code=new.code,
            name=name,
            digest=secrets.hash_secret(new.secret),
            lookup=secrets.get_prefix(new.secret),
            expires_at=expires_at,
        )

    def check() -> None:
        _lock_own_token(by)
        if list_tokens(user_id=by.user_id).count() >= LIMIT:
            raise Invalid(f"You have {LIMIT} tokens: end one of them first.")

    made = record_for_person(
        by=by, user_id=by.user_id, entries=[entry], store=store, check=check
    )
    return made, new.secret


def revoke_token(*, by: PersonPrincipal, code: str) -> None:
    token = get_token(user_id=by.user_id, code=code)
    rows = PersonalToken.objects.filter(pk=token.pk)
    user = User(code=by.user_code, username=by.username)
    record_for_person(
        by=by,
        user_id=by.user_id,
        entries=build_revoked_entries(user, rows),
        store=lambda at: revoke_tokens(rows),
    )


def issue_token_by_command(*, user: User) -> str:
    """A token for somebody, by a command of the server; it is shown only once."""
    token = NewToken()
    return record_for_person(
        by=None,
        user_id=user.pk,
        entries=[build_made_entry(user, token)],
        store=lambda at: issue_token(user=user, token=token),
    )


def revoke_tokens_by_command(*, user: User, rows: QuerySet[PersonalToken]) -> int:
    """Those still in force and what was made with them; how many that were."""
    entries = build_revoked_entries(user, rows)
    if not entries:
        return 0
    return record_for_person(
        by=None,
        user_id=user.pk,
        entries=entries,
        store=lambda at: revoke_tokens(rows),
    )


def build_made_entry(
    user: User,
    token: NewToken,
    *,
    name: str = "",
    expires_at: datetime | None = None,
) -> AuditEntry:
    payload = {
        "person": str(user.code),
        "name": user.username,
        "token": str(token.code),
        "token_name": name,
        "prefix": secrets.get_prefix(token.secret),
        "secret": secrets.build_mark(secrets.hash_secret(token.secret)),
        "expires_at": format_timestamp(expires_at) if expires_at else None,
    }
    return AuditEntry("token.made", payload)


def build_revoked_entries(
    user: User, rows: QuerySet[PersonalToken]
) -> list[AuditEntry]:
    """One for each that is not revoked, with those that end because they were made with
    it."""
    entries = []
    told: set[int] = set()
    for token in rows.filter(revoked_at=None).order_by("pk"):
        if token.pk in told:
            continue
        payload: dict[str, Any] = {
            "person": str(user.code),
            "name": user.username,
            **_describe(token),
        }
        made_with_it = [each for each in _list_made_with(token) if each.pk not in told]
        if made_with_it:
            payload["also_ended"] = [_describe(each) for each in made_with_it]
        told |= {token.pk, *(each.pk for each in made_with_it)}
        entries.append(AuditEntry("token.revoked", payload))
    return entries


def _describe(token: PersonalToken) -> dict[str, str]:
    return {
        "token": str(token.code),
        "token_name": token.name,
        "prefix": token.lookup,
    }


def _list_made_with(token: PersonalToken) -> list[PersonalToken]:
    """Those in force that were made with it, or with one of them, oldest first."""
    _, *levels = list_token_levels(token_ids=[token.pk])
    below = [token_id for level in levels for token_id in level]
    return list(list_valid_tokens().filter(pk__in=below).order_by("pk"))


def _lock_own_token(by: PersonPrincipal) -> None:
    """The token that is used here must be in force, and stay so until this is stored:
    what is made with one that was revoked a moment ago would outlive it."""
    if by.token_id is None:
        return
    own = list_valid_tokens().filter(pk=by.token_id).select_for_update(of=("self",))
    if own.first() is None:
        raise Unauthenticated


def _limit_expiry(by: PersonPrincipal, wanted: datetime | None) -> datetime | None:
    """In the future, and not after the end of the token it is made with."""
    if wanted is not None and wanted <= timezone.now():
        raise _refuse_expiry("must be in the future")
    own = PersonalToken.objects.filter(pk=by.token_id or 0).first()
    most = own.expires_at if own else None
    if most is not None and wanted is not None and wanted > most:
        raise _refuse_expiry(
            f"must not be later than that of the token you use: {most:%Y-%m-%d %H:%M} UTC"
        )
    return wanted or most


def _refuse_expiry(message: str) -> Invalid:
    return Invalid(
        f"The expiry of the token {message}.",
        errors=[{"loc": ["expires_at"], "message": message}],
    )
