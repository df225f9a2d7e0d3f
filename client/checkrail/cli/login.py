"""Signing in and out of a server from this machine."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from itertools import islice

from checkrail.cli.login_file import RETRY_SECONDS, Login, forget, save
from checkrail.cli.output import say
from checkrail.errors import CheckrailError
from checkrail.people import Desk
from checkrail.problems import Unauthenticated


def login(options: Namespace) -> int:
    """Saves only what the server has accepted."""
    url = options.url or _asked("Server, for example http://127.0.0.1:8000: ")
    # Never an argument: other people of the machine can read those.
    token = sys.stdin.readline().strip() if options.token_stdin else _secret()
    with Desk(url, token, retry_seconds=RETRY_SECONDS) as people:
        try:
            waiting = len(list(islice(people.reviews(), 100)))
        except Unauthenticated:
            raise CheckrailError(
                "The server does not know this token. A personal token begins with "
                "crt_ and is printed once by: manage.py user_add NAME"
            ) from None
    path = save(Login(url=url, token=token))
    say(f"Signed in to {url}; saved in {path}. {_waiting(waiting)}")
    return 0


def logout(_options: Namespace) -> int:
    say("Signed out." if forget() else "Nobody was signed in.")
    return 0


def _waiting(count: int) -> str:
    if not count:
        return "Nothing waits for you."
    return f"{count if count < 100 else 'Over 100'} waiting: checkrail queue"


def _asked(question: str) -> str:
    if not sys.stdin.isatty():
        raise CheckrailError("Name the server with --url.")
    return input(question).strip()


def _secret() -> str:
    if not sys.stdin.isatty():
        raise CheckrailError("Send the token on standard input with --token-stdin.")
    return getpass.getpass("Personal token (crt_…): ").strip()
