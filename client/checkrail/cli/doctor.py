"""What is wrong with the set-up of this machine, and how to mend it."""

from __future__ import annotations

import os
import platform
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path

from checkrail.cli.doctor_findings import Finding
from checkrail.cli.doctor_hooks import examine_hooks
from checkrail.cli.login_file import RETRY_SECONDS, get_login_path, read_login
from checkrail.cli.output import print_json, print_line
from checkrail.cli.safe_text import make_one_line
from checkrail.errors import CheckrailError
from checkrail.problems import Unauthenticated
from checkrail.version import __version__

MOST_SKEW_SECONDS = 60
SIGNS = {"ok": "ok  ", "note": "note", "wrong": "BAD "}


def run_doctor(options: Namespace) -> int:
    found = list(_examine())
    if options.json:
        print_json([vars(item) for item in found])
    else:
        for item in found:
            print_line(f"{SIGNS[item.state]}  {item.what}")
            if item.mend:
                print_line(f"      {item.mend}")
    wrong = sum(item.state == "wrong" for item in found)
    if not options.json:
        print_line(f"\n{wrong} to mend." if wrong else "\nAll is well.")
    return 1 if wrong else 0


def _examine() -> Iterator[Finding]:
    yield _describe_python()
    yield from _examine_connection()
    yield from examine_hooks(Path.cwd())
    yield from _examine_extras()


def _examine_connection() -> Iterator[Finding]:
    url = os.environ.get("CHECKRAIL_URL")
    source = "CHECKRAIL_URL"
    try:
        known = read_login()
    except CheckrailError as error:
        known = None
        yield Finding("wrong", str(error))
    if not url and known is not None:
        url, source = known.url, str(get_login_path())
    if not url:
        yield Finding(
            "wrong",
            "No server is named",
            "export CHECKRAIL_URL=http://127.0.0.1:8000, or: checkrail login",
        )
        return
    yield Finding("ok", f"The server is {url} (from {source})")
    reached = False
    for item in _examine_server(url):
        reached = reached or item.state == "ok"
        yield item
    if reached:
        yield _examine_key(url)
        yield _examine_token(url, known.token if known else None)


def _describe_python() -> Finding:
    python = platform.python_version()
    return Finding("ok", f"checkrail {__version__}, Python {python}")


def _examine_server(url: str) -> Iterator[Finding]:
    import httpx

    base = url.rstrip("/")
    try:
        with httpx.Client(timeout=10) as client:
            began = time.time()
            alive = client.get(f"{base}/api/v1/healthz")
            ready = client.get(f"{base}/api/v1/readyz")
    except httpx.HTTPError as error:
        yield Finding(
            "wrong",
            f"The server does not answer: {make_one_line(str(error) or type(error).__name__)}",
            "Is it running (make run)? Is the address right? Is a proxy in between?",
        )
        return
    if alive.status_code != 200:
        yield Finding(
            "wrong",
            f"{base}/api/v1/healthz answered {alive.status_code}",
            "Another program may be listening there: look at the address.",
        )
        return
    took = alive.elapsed.total_seconds() * 1000
    yield Finding("ok", f"It answers ({took:.0f} ms)")
    if ready.status_code != 200:
        yield Finding(
            "wrong",
            f"It is not ready: {make_one_line(ready.text, limit=200)}",
            "Ask whoever runs it; docs/operations.md says what each reason means.",
        )
    yield from _examine_clock(alive.headers.get("date"), began)


def _examine_clock(told: str | None, here: float) -> Iterator[Finding]:
    if told is None:
        return
    skew = here - parsedate_to_datetime(told).timestamp()
    if abs(skew) > MOST_SKEW_SECONDS:
        way = "ahead" if skew > 0 else "behind"
        yield Finding(
            "wrong",
            f"This machine's clock is {abs(skew):.0f} s {way} of the server's",
            "Set it by the network: waits and signatures depend on it.",
        )


def _examine_key(url: str) -> Finding:
    key = os.environ.get("CHECKRAIL_KEY")
    make = "Make one on the server: manage.py agent_key NAME --project SLUG"
    if not key:
        return Finding("note", "No agent key is set (CHECKRAIL_KEY)", make)
    if not key.startswith("crk_"):
        return Finding("wrong", "CHECKRAIL_KEY is no agent key (crk_…)", make)

    def ask() -> None:
        from checkrail.client import Checkrail

        with Checkrail(url, key, retry_seconds=RETRY_SECONDS) as rail:
            rail.evaluate_command("true")

    return _try_secret(ask, "agent key", make)


def _examine_token(url: str, known: str | None) -> Finding:
    token = os.environ.get("CHECKRAIL_TOKEN") or known
    make = "Sign in: checkrail login"
    if not token:
        return Finding("note", "No personal token is set: you cannot rule here", make)

    def ask() -> None:
        from checkrail.people import Desk

        with Desk(url, token, retry_seconds=RETRY_SECONDS) as people:
            next(people.reviews(), None)

    return _try_secret(ask, "personal token", make)


def _try_secret(ask: Callable[[], None], name: str, make: str) -> Finding:
    try:
        ask()
    except Unauthenticated:
        return Finding("wrong", f"The server does not know the {name}", make)
    except CheckrailError as error:
        return Finding(
            "wrong", f"The {name} was refused: {make_one_line(str(error))}", make
        )
    return Finding("ok", f"The {name} is accepted")


def _examine_extras() -> Iterator[Finding]:
    for module, extra, use in (
        ("rich", "cli", "tables in colour"),
        ("mcp", "mcp", "the MCP server"),
    ):
        if find_spec(module) is None:
            yield Finding(
                "note",
                f"{module} is absent ({use})",
                f"pip install './client[{extra}]', in a clone of Checkrail",
            )
