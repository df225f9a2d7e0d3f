"""A day of the demo's fleet, through servers and counters that are killed: the figures are
what a recount of the exported ledger says."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from threading import Event
from typing import Any

import httpx
import pytest

from demo.fleet import Fleet
from reviews.models import Kind
from tests.ledger.statistics.day.recount import export_runs, read_told, recount
from tests.ledger.statistics.day.site import Site
from tests.support.builders import unique
from tests.support.examples import ALL
from tests.support.threads import at_once
from tests.support.waiting import until

HOURS = 24
# By day few of the fleet's steps in each hour, at night many.
STEPS = HOURS * (200 if ALL else 6)
ROUNDS = 24 if ALL else 1
TIME_FACTOR = 0.02
# Of whatever this test waits for; a busy machine may take most of it.
SECONDS = 1_200 if ALL else 240
ACTIONS = {
    "pause": ("approve", "approve", "abort"),
    "confirmation": ("approve", "approve", "deny"),
    "question": ("answer",),
    "exhausted": ("retry", "skip"),
    "request": ("approve", "deny"),
    "plan": ("approve", "approve", "deny"),
    "loop_action": ("approve", "deny"),
    "policy_change": ("approve", "deny"),
}
assert set(ACTIONS) == set(Kind.values), "a review of every kind may come up in a day"


@pytest.mark.timeout(2 * SECONDS)
def test_figures_are_a_recount_after_a_day_with_kills(
    database: None, tmp_path: Path
) -> None:
    slug = unique("day")
    with Site(folder=tmp_path) as site:
        made = site.prepare(slug)
        at_once(*(partial(site.start, port) for port in site.ports))
        names = sorted(made["keys"])
        shares = [{name: made["keys"][name] for name in names[i::2]} for i in range(2)]
        fleets = [Fleet(keys, seed=7, time_factor=TIME_FACTOR) for keys in shares]
        people = made["people"]
        tokens = [person["token"] for person in people.values()]
        with (
            at_work(fleets, site.urls),
            ruling(site.urls, tokens),
            in_the_background(lambda done: pass_hours(site, fleets, done)),
        ):
            kill_in_the_middle(site, fleets)
            until(lambda: count_steps(fleets) >= STEPS, seconds=SECONDS)
        with open_api(site.urls[-1], tokens[0]) as manager:
            check(site, manager, slug, people)


def check(
    site: Site, manager: httpx.Client, slug: str, people: dict[str, dict[str, str]]
) -> None:
    """Tasks of the server may still write: only what nobody wrote into is compared."""
    actors = {person["actor"]: name for name, person in people.items()}
    since = datetime.fromtimestamp(site.began, UTC) - timedelta(days=2)
    runs = export_runs(manager)
    for _ in range(5):
        assert site.count(0).returncode == 0
        verified = site.run("manage.py", "statistics_verify", "--project", slug)
        labels = sorted({name for run in runs for name in run.labels})
        told = read_told(manager, since=since.isoformat(), labels=labels)
        before, runs = runs, export_runs(manager)
        if runs == before:
            break
    else:
        raise AssertionError("The ledger never came to rest.")
    entries = sum(len(run.entries) for run in runs)
    assert verified.stdout == (
        f"{slug}: {entries:,} entries recounted, 0 figures different\n"
    ), verified.stderr
    assert told == recount(runs, actors)
    hours = {key[1] for key in told if key[0] == "hour"}
    # Some of them go by while nobody is heard.
    assert len(hours) > HOURS // 4


def kill_in_the_middle(site: Site, fleets: Sequence[Fleet]) -> None:
    """In each round one who counts is killed wherever it is, another within a transaction,
    and in the first and every sixth a server."""
    for number in range(ROUNDS):
        with site.counting():
            if number % 6 == 0:
                site.kill_server()
            wait_for_steps(fleets)
        # Where a server was faster and has counted everything, there is nothing to die of.
        for _ in range(30):
            wait_for_steps(fleets)
            died = site.count(1 + number % 2)
            if died.returncode != 0:
                break
        assert died.returncode == -signal.SIGKILL, died.stderr


def wait_for_steps(fleets: Sequence[Fleet]) -> None:
    """So many that several slices are not counted yet."""
    enough = count_steps(fleets) + 12
    until(lambda: count_steps(fleets) >= enough, seconds=SECONDS)


def count_steps(fleets: Sequence[Fleet]) -> int:
    return sum(fleet.counts.steps for fleet in fleets)


@contextmanager
def at_work(fleets: Sequence[Fleet], urls: Sequence[str]) -> Iterator[None]:
    for fleet, url in zip(fleets, urls, strict=True):
        fleet.start(url)
    try:
        yield
    finally:
        for fleet in fleets:
            fleet.stop()


@contextmanager
def ruling(urls: Sequence[str], tokens: Sequence[str]) -> Iterator[None]:
    """Two people, each at a server, rule on whatever is open."""
    with ExitStack() as stack:
        for url, token in zip(urls, tokens, strict=True):
            work = partial(rule_on, url, token)
            stack.enter_context(in_the_background(work))
        yield


@contextmanager
def in_the_background(work: Callable[[Event], None]) -> Iterator[None]:
    done = Event()
    with ThreadPoolExecutor(max_workers=1) as pool:
        result = pool.submit(work, done)
        try:
            yield
        finally:
            done.set()
        result.result(timeout=SECONDS)


def pass_hours(site: Site, fleets: Sequence[Fleet], done: Event) -> None:
    """The more steps, the later it is."""
    while not done.wait(0.01):
        site.move_clock(min(HOURS * count_steps(fleets) // STEPS, HOURS - 1))


def rule_on(url: str, token: str, done: Event) -> None:
    chance = Random(17)
    with open_api(url, token) as person:
        while not done.wait(0.05):
            try:
                page = person.get("/reviews", params={"state": "open"})
                for review in page.json()["items"] if page.is_success else ():
                    rule(person, review, chance)
            except httpx.TransportError:
                pass  # the server was killed: it comes back


def rule(person: httpx.Client, review: dict[str, Any], chance: Random) -> None:
    action = chance.choice(ACTIONS[review["kind"]])
    seen = {"version": review["version"], "content_digest": review["content_digest"]}
    words = {"answer": "keep 402"} if action == "answer" else {"note": "As it is."}
    answer = person.post(
        f"/reviews/{review['id']}/ruling", json={"action": action, **seen, **words}
    )
    # The other person, or the end of the run, may have been faster.
    assert answer.status_code in {200, 404, 409, 410}, answer.text


def open_api(url: str, token: str) -> httpx.Client:
    return httpx.Client(
        base_url=f"{url}/api/v1",
        headers={"Authorization": f"Bearer {token}"},
        timeout=30,
        trust_env=False,
    )
