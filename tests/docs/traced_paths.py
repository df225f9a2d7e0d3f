"""Which files of ours hand a step, and a person's ruling, on: traced on a real server.

Not collected with the suite, because a trace needs threads that begin after it:
`test_four_paths.py` runs it in a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from types import FrameType

import httpx
from django.conf import settings
from django.test import Client

from accounts.models import Project
from tests.support.builders import Person, pause_at_once, start_run, step
from tests.support.live import Live
from tests.support.waiting import park

ROOT = Path(__file__).resolve().parents[2]
APPS = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}

Calls = dict[str, set[str]]
_calls: Calls = {}
_tracing = threading.Event()


@cache
def _get_own_path(filename: str) -> str | None:
    """Where in the project the file is, if it is one of ours."""
    path = Path(filename)
    if not path.is_relative_to(ROOT):
        return None
    own = path.relative_to(ROOT)
    return str(own) if own.parts[0] in APPS else None


def _get_file(frame: FrameType | None) -> str | None:
    """The file of ours whose code runs in this frame, or called it."""
    while frame is not None:
        own = _get_own_path(frame.f_code.co_filename)
        if own is not None:
            return own
        frame = frame.f_back
    return None


def _note_call(frame: FrameType, event: str, _value: object) -> None:
    if not _tracing.is_set() or event != "call":
        return
    called = _get_own_path(frame.f_code.co_filename)
    if called is not None:
        caller = _get_file(frame.f_back)
        if caller is not None and caller != called:
            _calls.setdefault(caller, set()).add(called)


threading.setprofile(_note_call)


def test_trace(agent: httpx.Client, bob: Person, live: Live, project: Project) -> None:
    run = start_run(agent)
    for number in (1, 2, 3):
        _report(agent, run, number)
    steps = [_trace(partial(_report, agent, run, number)) for number in (4, 5, 6)]
    with _sign_in(bob, live) as browser:
        queue = f"/p/{project.slug}/queue/"
        rulings = [_trace_ruling(agent, browser, queue) for _ in range(3)]
    traced = {"step": _keep_common(steps), "ruling": _keep_common(rulings)}
    Path(os.environ["TRACE"]).write_text(json.dumps(traced))


def _keep_common(traces: list[Calls]) -> dict[str, list[str]]:
    """Without what sweeps and heartbeats called meanwhile."""
    callers = set.intersection(*(set(trace) for trace in traces))
    return {
        caller: sorted(set.intersection(*(trace[caller] for trace in traces)))
        for caller in sorted(callers)
    }


def _trace_ruling(agent: httpx.Client, browser: httpx.Client, queue: str) -> Calls:
    """A run of its own pauses, its agent waits, and a person approves."""
    run = start_run(agent)
    address = f"{queue}{pause_at_once(agent, run)}/"
    form = _fill(browser.get(address).text)
    waiting = park(agent, run)

    def rule() -> None:
        assert browser.post(f"{address}rule/", data=form).is_redirect
        waiting.result()

    return _trace(rule)


def _report(agent: httpx.Client, run: str, number: int) -> None:
    assert agent.post(f"/runs/{run}/steps", json=step(number)).status_code == 201


def _trace(act: Callable[[], None]) -> Calls:
    _calls.clear()
    _tracing.set()
    act()
    _tracing.clear()
    return {caller: set(called) for caller, called in _calls.items()}


def _sign_in(person: Person, live: Live) -> httpx.Client:
    """A browser of somebody who has signed in."""
    django = Client()
    django.force_login(person.user)
    session = django.cookies[settings.SESSION_COOKIE_NAME].value
    cookies = {settings.SESSION_COOKIE_NAME: session}
    return httpx.Client(base_url=live.url, cookies=cookies, timeout=60)


def _fill(page: str) -> dict[str, str]:
    """The hidden fields of the form, and approval."""
    names = ("csrfmiddlewaretoken", "version", "content_digest")
    found = {
        name: match[1]
        for name in names
        if (match := re.search(rf'name="{name}" value="([^"]+)"', page))
    }
    assert set(found) == set(names), page
    return {**found, "action": "approve", "text": ""}
