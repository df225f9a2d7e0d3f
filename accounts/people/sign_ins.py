"""The browsers in which a person is signed in: listed, and ended."""

from __future__ import annotations

from datetime import timedelta

from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import SignIn, User
from accounts.people.browsers import describe_browser

# When somebody was last seen is worth one write a minute, not one a page.
SEEN_GRAIN = timedelta(minutes=1)

# In the session: when its person last gave their password.
SIGNED_IN_AT = "signed_in_at"


def store_sign_in(request: HttpRequest, *, user: User) -> None:
    """Remember in which browser this session was opened; drop those that have ended."""
    list_ended_sign_ins(user_id=user.pk).delete()
    update_sign_in(
        user_id=user.pk,
        session_key=request.session.session_key,
        browser=describe_browser(request.headers.get("User-Agent", "")),
        address=request.META.get("REMOTE_ADDR") or "",
    )


def update_sign_in(
    *, user_id: int, session_key: str | None, browser: str, address: str
) -> None:
    """The person is there now. A session that began before this was kept is added."""
    if session_key is None:
        return
    now = timezone.now()
    known = SignIn.objects.filter(session_key=session_key)
    if known.filter(last_seen_at__gt=now - SEEN_GRAIN).exists():
        return
    if known.update(last_seen_at=now):
        return
    SignIn.objects.get_or_create(
        session_key=session_key,
        defaults={
            "user_id": user_id,
            "browser": browser,
            "address": address[:64],
            "created_at": now,
            "last_seen_at": now,
        },
    )


def list_open_sign_ins(*, user_id: int) -> QuerySet[SignIn]:
    """Newest use first."""
    standing = Session.objects.filter(expire_date__gt=timezone.now())
    return SignIn.objects.filter(
        user_id=user_id, session_key__in=standing.values("session_key")
    ).order_by("-last_seen_at", "-pk")


def list_ended_sign_ins(*, user_id: int) -> QuerySet[SignIn]:
    standing = Session.objects.filter(expire_date__gt=timezone.now())
    return SignIn.objects.filter(user_id=user_id).exclude(
        session_key__in=standing.values("session_key")
    )


def end_sign_ins(sign_ins: QuerySet[SignIn]) -> int:
    """Sign out in these browsers: their next request is a stranger's."""
    keys = list(sign_ins.values_list("session_key", flat=True))
    Session.objects.filter(session_key__in=keys).delete()
    SignIn.objects.filter(session_key__in=keys).delete()
    return len(keys)
