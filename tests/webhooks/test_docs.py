"""docs/webhooks.md says what the code does, and its receiver receives."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from accounts.models import Project
from config.api import api
from tests.docs.markdown import blocks, code, read_page, table_under
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Receiver
from webhooks.delivery.attempt import REPLY_LIMIT, TIME_LIMIT_S
from webhooks.delivery.retry_schedule import (
    DELAYS_S,
    JITTER,
    OVERLOAD_REST_S,
    OVERLOADED,
)
from webhooks.delivery.worker import deliver
from webhooks.events import TEST_TYPE, TYPES
from webhooks.payloads import BODY_LIMIT, TEXT_LIMIT
from webhooks.services import KEEP_FOR
from webhooks.signing import ROTATION

pytestmark = pytest.mark.once("reads a page of the docs")

PAGE = read_page("docs/webhooks.md")


def test_every_event_is_listed() -> None:
    rows = table_under(PAGE, first_column="Event")
    assert tuple(code(row[0]) for row in rows) == (*TYPES, TEST_TYPE)


def test_every_door_is_told_of() -> None:
    doors = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in api.get_openapi_schema()["paths"].items()
        for method in methods
        if "/webhooks" in path
    }
    told = PAGE.replace("`, `…/enable`", "` `POST /webhooks/{webhook}/enable`")
    named = set(re.findall(r"(?:GET|POST|DELETE) /webhooks[\w/{}]*", told))
    assert named == doors


def test_the_figures_are_the_codes() -> None:
    assert DELAYS_S[1:4] == (5, 5 * 60, 30 * 60)
    assert [step // 3600 for step in DELAYS_S[4:]] == [2, 5, 10, 14, 20, 24]
    assert "5 seconds, 5 and 30 minutes, 2, 5, 10, 14,\n20 and 24 hours" in PAGE
    assert (JITTER, OVERLOAD_REST_S) == (0.2, 1.0)
    assert sorted(OVERLOADED) == [429, 502, 503, 504]
    assert (TIME_LIMIT_S, REPLY_LIMIT) == (15, 64 * 1024)
    assert (BODY_LIMIT, TEXT_LIMIT) == (20_000, 2_000)
    assert (KEEP_FOR.days, ROTATION.total_seconds()) == (30, 24 * 3600)


def test_the_receiver_of_the_page_takes_ours_and_no_other(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    deliver()
    (arrived,) = receiver.arrived
    (source,) = blocks(PAGE, language="python")
    queue: list[Any] = []
    names: dict[str, Any] = {
        "seen_before": lambda _id: False,
        "put_in_a_queue": queue.append,
    }
    exec(source.replace("whsec_…", hook.secret), names)  # noqa: S102
    assert names["receive"](arrived.headers, arrived.body) == 204
    assert [event["type"] for event in queue] == ["loop.event"]
    assert names["receive"](arrived.headers, arrived.body + b" ") == 400
