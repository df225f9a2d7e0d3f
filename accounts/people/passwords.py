"""The password of a person who is signed in already, asked for once more."""

from __future__ import annotations

from django.http import HttpRequest

from accounts.models import User
from accounts.throttle import (
    TooBusy,
    count_attempt,
    forget_attempts,
    take_hashing_slot,
    undo_attempt,
)


def find_password_fault(request: HttpRequest, *, user: User, password: str) -> str:
    """Say why it is not taken; empty where it is the person's own. Guessing here is
    counted and slowed down as it is at the sign-in."""
    name = user.get_username()
    wait = count_attempt(request, name)
    if wait is not None:
        return wait.words
    try:
        with take_hashing_slot():
            known = user.check_password(password)
    except TooBusy:
        undo_attempt(request, name)
        return "Too many people sign in at once. Try again."
    if not known:
        return "This is not your password."
    forget_attempts(request, name)
    return ""
