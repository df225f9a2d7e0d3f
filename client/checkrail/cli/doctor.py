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

from checkrail.cli.doctor_findings import Found
from checkrail.cli.doctor_hooks import examine_hooks
from checkrail.cli.login_file import RETRY_SECONDS, place, saved
from checkrail.cli.output import as_json, say
from checkrail.cli.safe_text import one_line
from checkrail.errors import CheckrailError
from checkrail.problems import Unauthenticated
from checkrail.version import __version__

MOST_SKEW_SECONDS = 60
SIGNS = {"ok": "ok  ", "note": "note", "wrong": "BAD "}


def doctor(options: Namespace) -> int:
    found = list(_examined())
    if options.json:
        as_json([vars(item) for item in found])
    else:
        for item in found:
            say(f"{SIGNS[item.state]}  {item.what}")
            if item.mend:
                say(f"      {item.mend}")
    wrong = sum(item.state == "wrong" for item in found)
    if not options.json:
        say(f"\n{wrong} to mend." if wrong else "\nAll is well.")
    return 1 if wrong else 0


def _examined() -> Iterator[Found]:
    yield _python()
    yield from _connection()
    yield from examine_hooks(Path.cwd())
    yield from _extras()


def _connection() -> Iterator[Found]:
    url = os.environ.get("CHECKRAIL_URL")
    source = "CHECKRAIL_URL"
    try:
        known = saved()
    except CheckrailError as error:
        known = None
        yield Found("wrong", str(error))
    if not url and known is not None:
        url, source = known.url, str(place())
    if not url:
        yield Found(
            "wrong",
            "No server is named",
            "export CHECKRAIL_URL=http://127.0.0.1:8000, or: checkrail login",
        )
        return
    yield Found("ok", f"The server is {url} (from {source})")
    reached = False
    for item in _server(url):
        reached = reached or item.state == "ok"
        yield item
    if reached:
        yield _agent_key(url)
        yield _token(url, known.token if known else None)


def _python() -> Found:
    python = platform.python_version()
    return Found("ok", f"checkrail {__version__}, Python {python}")


def _server(url: str) -> Iterator[Found]:
    import httpx

    base = url.rstrip("/")
    try:
        with httpx.Client(timeout=10) as client:
            began = time.time()
            alive = client.get(f"{base}/api/v1/healthz")
            ready = client.get(f"{base}/api/v1/readyz")
    except httpx.HTTPError as error:
        yield Found(
            "wrong",
            f"The server does not answer: {one_line(str(error) or type(error).__name__)}",
            "Is it running (make run)? Is the address right? Is a proxy in between?",
        )
        return
    if alive.status_code != 200:
        yield Found(
            "wrong",
            f"{base}/api/v1/healthz answered {alive.status_code}",
            "Another program may be listening there: look at the address.",
        )
        return
    took = alive.elapsed.total_seconds() * 1000
    yield Found("ok", f"It answers ({took:.0f} ms)")
    if ready.status_code != 200:
        yield Found(
            "wrong",
            f"It is not ready: {one_line(ready.text, limit=200)}",
            "Ask whoever runs it; docs/operations.md says what each reason means.",
        )
    yield from _clock(alive.headers.get("date"), began)


def _clock(told: str | None, here: float) -> Iterator[Found]:
    if told is None:
        return
    skew = here - parsedate_to_datetime(told).timestamp()
    if abs(skew) > MOST_SKEW_SECONDS:
        way = "ahead" if skew > 0 else "behind"
        yield Found(
            "wrong",
            f"This machine's clock is {abs(skew):.0f} s {way} of the server's",
            "Set it by the network: waits and signatures depend on it.",
        )


def _agent_key(url: str) -> Found:
    key = os.environ.get("CHECKRAIL_KEY")
    make = "Make one on the server: manage.py agent_key NAME --project SLUG"
    if not key:
        return Found("note", "No agent key is set (CHECKRAIL_KEY)", make)
    if not key.startswith("crk_"):
        return Found("wrong", "CHECKRAIL_KEY is no agent key (crk_…)", make)

    def ask() -> None:
        from checkrail.client import Checkrail

        with Checkrail(url, key, retry_seconds=RETRY_SECONDS) as rail:
            rail.evaluate_command("true")

    return _accepted(ask, "agent key", make)


def _token(url: str, known: str | None) -> Found:
    token = os.environ.get("CHECKRAIL_TOKEN") or known
    make = "Sign in: checkrail login"
    if not token:
        return Found("note", "No personal token is set: you cannot rule here", make)

    def ask() -> None:
        from checkrail.people import Desk

        with Desk(url, token, retry_seconds=RETRY_SECONDS) as people:
            next(people.reviews(), None)

    return _accepted(ask, "personal token", make)


def _accepted(ask: Callable[[], None], name: str, make: str) -> Found:
    try:
        ask()
    except Unauthenticated:
        return Found("wrong", f"The server does not know the {name}", make)
    except CheckrailError as error:
        return Found("wrong", f"The {name} was refused: {one_line(str(error))}", make)
    return Found("ok", f"The {name} is accepted")


def _extras() -> Iterator[Found]:
    for module, extra, use in (
        ("rich", "cli", "tables in colour"),
        ("mcp", "mcp", "the MCP server"),
    ):
        if find_spec(module) is None:
            yield Found(
                "note",
                f"{module} is absent ({use})",
                f"pip install './client[{extra}]', in a clone of Checkrail",
            )
