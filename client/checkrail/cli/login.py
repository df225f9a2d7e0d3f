"""Signing in and out of a server from this machine."""

from __future__ import annotations

import getpass
import sys
from argparse import Namespace
from itertools import islice

from checkrail.cli.login_file import RETRY_SECONDS, Login, delete_login, store_login
from checkrail.cli.output import print_line
from checkrail.errors import CheckrailError
from checkrail.people import Desk
from checkrail.problems import Unauthenticated


def sign_in(options: Namespace) -> int:
    """Saves only what the server has accepted."""
    url = options.url or _ask("Server, for example http://127.0.0.1:8000: ")
    # Never an argument: other people of the machine can read those.
    token = sys.stdin.readline().strip() if options.token_stdin else _ask_for_token()
    with Desk(url, token, retry_seconds=RETRY_SECONDS) as people:
        try:
            waiting = len(list(islice(people.reviews(), 100)))
        except Unauthenticated:
            raise CheckrailError(
                "The server does not know this token. A personal token begins with "
                "crt_ and is printed once by: manage.py user_add NAME"
            ) from None
    path = store_login(Login(url=url, token=token))
    print_line(f"Signed in to {url}; saved in {path}. {_describe_queue(waiting)}")
    return 0


def sign_out(_options: Namespace) -> int:
    print_line("Signed out." if delete_login() else "Nobody was signed in.")
    return 0


def _describe_queue(count: int) -> str:
    if not count:
        return "You're all caught up."
    return f"{count if count < 100 else 'Over 100'} waiting: checkrail queue"


def _ask(question: str) -> str:
    if not sys.stdin.isatty():
        raise CheckrailError("Name the server with --url.")
    return input(question).strip()


def _ask_for_token() -> str:
    if not sys.stdin.isatty():
        raise CheckrailError("Send the token on standard input with --token-stdin.")
    return getpass.getpass("Personal token (crt_…): ").strip()
