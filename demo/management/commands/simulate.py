"""manage.py simulate: a fleet of demo agents over real HTTP, on demand."""

from __future__ import annotations

import time
from argparse import ArgumentParser, ArgumentTypeError
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx
from django.conf import settings
from django.core.management.base import CommandError

from common.commands import QuickCommand
from demo.client import Counts
from demo.fleet import Fleet
from demo.keys import DEMO_PROJECT, issue_simulation_keys, revoke_keys
from guidance.core.vocabulary import CALL_DECISIONS, STEP_DECISIONS

MOST_AGENTS = 500
# Most severe first, as the other vocabularies.
OUTCOMES = ("exhausted", "retry", "warned", "logged", "passed")
ACTIONS = ("needs_human", "warn", "auto_continue", "in_progress", "finish")


class Command(QuickCommand):
    help = "Let demo agents work against a running server, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--agents", type=_parse_count, default=8, metavar="N")
        parser.add_argument(
            "--seconds",
            type=_parse_seconds,
            metavar="S",
            help="end by itself after S seconds",
        )
        parser.add_argument(
            "--url",
            default=f"http://127.0.0.1:{settings.ENVIRONMENT.port}",
            help="where the server answers (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        url: str = options["url"].rstrip("/")
        _require_server(url)
        keys = issue_simulation_keys(options["agents"])
        fleet = Fleet(keys)
        self.stdout.write(
            f"{fleet.size} agents are at work in the project {DEMO_PROJECT!r} at {url}."
        )
        if options["seconds"] is None:
            self.stdout.write("End with Ctrl-C.")
        self.stdout.flush()
        began = time.monotonic()
        fleet.start(url)
        try:
            _wait(options["seconds"])
        except KeyboardInterrupt:
            pass
        finally:
            seconds = time.monotonic() - began
            fleet.stop(finish_runs=True)
            revoke_keys(list(keys))
        self.stdout.write(render_summary(fleet.counts, seconds=seconds))


def _require_server(url: str) -> None:
    try:
        healthy = httpx.get(f"{url}/healthz", timeout=5, trust_env=False).is_success
    except (httpx.HTTPError, httpx.InvalidURL):
        healthy = False
    if not healthy:
        raise CommandError(f"No server answers at {url}. Start one with make run.")


def _wait(seconds: float | None) -> None:
    if seconds is not None:
        time.sleep(seconds)
        return
    while True:
        time.sleep(3_600)


def _parse_count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= MOST_AGENTS:
        raise ArgumentTypeError(f"must be 1 to {MOST_AGENTS}")
    return int(text)


def _parse_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise ArgumentTypeError("must be more than 0 and at most 86400")
    return seconds


def render_summary(counts: Counts, *, seconds: float) -> str:
    lines = {
        "Runs started": counts.runs,
        "Steps reported": f"{counts.steps} ({counts.steps / seconds:.1f} a second)",
        "Decisions": _render_counts(counts.decisions, STEP_DECISIONS),
        "Calls judged": _render_counts(counts.calls, CALL_DECISIONS),
        "Gate verdicts": _render_counts(counts.verdicts, OUTCOMES),
        "Turns judged": _render_counts(counts.turns, ACTIONS),
        "Reviews opened": counts.opened,
        "Reviews ruled": counts.ruled,
        "Errors": counts.errors,
    }
    return "\n".join(f"{name:<15} {value}" for name, value in lines.items())


def _render_counts(decisions: Counter[str], words: Sequence[str]) -> str:
    """The mildest first."""
    counts = (
        f"{decisions[word]} {word}" for word in reversed(words) if decisions[word]
    )
    return ", ".join(counts) or "none"
