"""From a blocked call to a value that is not a secret, and back, in the browser."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
import pytest

from accounts.models import Project, Role
from console.live.updates import View, build_updates
from console.runs.rows import get_live_position
from reviews.models import Exemption
from tests.gateway.calls.calls import command
from tests.guidance.core.secrets.samples import body
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_person, make_project, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

LINE = f"API_KEY={body(24)} ./build.sh"


def read(page: Any) -> str:
    """What a reader has of it."""
    words = re.sub(r"<[^>]*>", " ", page.content.decode())
    return " ".join(unescape(words).split())


def address(project: Project, call: dict[str, Any]) -> str:
    return f"/p/{project.slug}/calls/{call['id']}/exempt/"


def find_mark(page: Any) -> str:
    (mark,) = set(
        re.findall(r'name="fingerprint" value="(\w+)"', page.content.decode())
    )
    return str(mark)


def test_the_timeline_leads_to_it_and_the_list_takes_it_back(
    agent: httpx.Client, project: Project, alice: Person, bob: Person
) -> None:
    run = start_run(agent)
    blocked = command(agent, run, LINE)
    manager = open_browser(alice.user)
    timeline = manager.get(f"/p/{project.slug}/runs/{run}/").content.decode()
    assert f'href="{address(project, blocked)}"' in timeline

    page = manager.get(address(project, blocked))
    assert "API_KEY=«api-key 24 chars #" in read(page)
    given = {"fingerprint": find_mark(page), "reason": "printed in the manual"}
    done = manager.post(address(project, blocked), given)

    exemption = Exemption.objects.get(call_id=blocked["id"])
    there = f"/p/{project.slug}/permissions/#exemption-{exemption.code}"
    assert (done.status_code, done["location"]) == (302, there)
    assert command(agent, run, LINE)["decision"] == "allow"
    listed = read(manager.get(there))
    assert "Not secrets 1" in listed
    assert "printed in the manual" in listed
    assert "already" in read(manager.get(address(project, blocked)))
    said = read(manager.get(f"/p/{project.slug}/runs/{run}/"))
    assert "Marked as “not a secret” printed in the manual" in said

    since = get_live_position(project_id=project.pk)
    back = f"/p/{project.slug}/exemptions/{exemption.code}/revoke/"
    assert open_browser(bob.user).post(back).status_code == 302
    assert command(agent, run, LINE)["decision"] == "block"
    assert f"Taken back by {bob.user.display_name}" in read(manager.get(there))
    view = View(project_id=project.pk, name="permissions")
    (update,) = build_updates([(view, since)]).values()
    assert 'data-touched="*"' in update.text


def test_what_is_missing_is_said_beside_its_field_and_what_was_typed_stays(
    agent: httpx.Client, project: Project, alice: Person
) -> None:
    blocked = command(agent, start_run(agent), LINE)
    manager = open_browser(alice.user)
    mark = find_mark(manager.get(address(project, blocked)))
    for given, words in (
        ({"fingerprint": mark, "reason": " "}, "Say why it is not a secret."),
        ({"reason": "typed before"}, "Choose the value."),
        ({"fingerprint": "00000000", "reason": "typed before"}, "not in the call"),
        ({"fingerprint": mark, "reason": "x" * 4_001}, "at most 4,000 characters"),
    ):
        page = manager.post(address(project, blocked), given)
        assert page.status_code == 422
        assert words in read(page)
        assert given["reason"].strip() in read(page)
    assert not Exemption.objects.filter(call_id=blocked["id"]).exists()


def test_a_reviewer_sees_whom_to_ask_and_an_outsider_nothing(
    agent: httpx.Client, project: Project, alice: Person, bob: Person
) -> None:
    run = start_run(agent)
    blocked = command(agent, run, LINE)
    reviewer = open_browser(bob.user)
    page = reviewer.get(address(project, blocked))
    assert f"A manager can mark it: {alice.user.display_name}" in read(page)
    assert "fingerprint" not in page.content.decode()
    manager = open_browser(alice.user)
    mark = find_mark(manager.get(address(project, blocked)))
    refused = reviewer.post(
        address(project, blocked), {"fingerprint": mark, "reason": "please"}
    )
    assert refused.status_code == 403
    assert not Exemption.objects.filter(call_id=blocked["id"]).exists()

    elsewhere = make_project()
    outsider = open_browser(
        make_person("outsider", role=Role.ADMIN, project=elsewhere).user
    )
    assert outsider.get(address(project, blocked)).status_code == 404
    assert manager.get(address(elsewhere, blocked)).status_code == 404
    allowed = command(agent, run, "ls")
    assert manager.get(address(project, allowed)).status_code == 404
