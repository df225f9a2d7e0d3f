"""Several reviews selected: what one decision would do, and what it did to each."""

from __future__ import annotations

import re
from html import unescape

import httpx
import pytest
from django.test import Client

from accounts.models import Project, Role
from reviews.models import Review
from tests.reviews.floods import ask_to_run
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_person, pause_at_once, start_run
from tests.support.people import claim, rule


def look(client: Client, project: Project, action: str, **picked: list[str]) -> str:
    """What the summary says; by the keys `pick` and `like`."""
    path = f"/p/{project.slug}/queue/selection/"
    return unescape(client.post(path, {"action": action, **picked}).content.decode())


def decide(
    client: Client, project: Project, summary: str, action: str, reason: str = ""
) -> str:
    items = re.findall(r'name="item" value="([^"]+)"', summary)
    path = f"/p/{project.slug}/queue/selection/rule/"
    sent = {"item": items, "action": action, "reason": reason}
    return unescape(client.post(path, sent).content.decode())


def states(codes: list[str]) -> list[str]:
    return [Review.objects.get(code=code).state for code in codes]


@pytest.fixture
def calls(agent: httpx.Client) -> list[str]:
    return [ask_to_run(agent, f"rm -rf build/{name}") for name in "abcdef"]


def test_a_row_that_stands_for_several_is_ruled_as_all_of_them(
    project: Project, bob: Person, calls: list[str]
) -> None:
    key = Review.objects.get(code=calls[0]).alike_key
    client = open_browser(bob.user)
    page = look(client, project, "deny", like=[key])
    assert "Deny 6 reviews?" in page
    assert "robo" in page
    refused = decide(client, project, page, "deny")
    assert "Say why" in refused
    assert states(calls) == ["open"] * 6
    done = decide(client, project, page, "deny", "Still in use.")
    assert "6 denied" in done
    assert states(calls) == ["ruled"] * 6
    notes = Review.objects.filter(code__in=calls).values_list("ruling__note", flat=True)
    assert {*notes} == {"Still in use."}


def test_what_is_critical_mixed_or_claimed_is_said_before(
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    calls: list[str],
) -> None:
    Review.objects.filter(code=calls[0]).update(severity="critical", urgency=0)
    claim(calls[1], alice)
    pause = pause_at_once(agent, start_run(agent))
    client = open_browser(bob.user)
    page = look(client, project, "approve", pick=calls[:3])
    assert "Approve 2 reviews?" in page
    assert "Critical, left out: rm -rf build/a" in page
    assert "(1), who will be told" in page
    mixed = look(client, project, "approve", pick=[calls[1], pause])
    assert "Select reviews of one kind" in mixed
    assert 'name="item"' not in mixed
    assert "not a choice for pauses" in look(client, project, "deny", pick=[pause])


def test_what_happened_meanwhile_is_told_of_each(
    project: Project, bob: Person, manager: httpx.Client, calls: list[str]
) -> None:
    client = open_browser(bob.user)
    page = look(client, project, "approve", pick=calls[:3])
    rule(manager, calls[0], "deny", note="No.")
    Review.objects.filter(code=calls[1]).update(severity="critical", urgency=0)
    done = decide(client, project, page, "approve")
    assert "1 approved; 1 ruled already; 1 not taken" in done
    assert "is critical" in done
    assert states(calls[:3]) == ["ruled", "open", "ruled"]


def test_an_auditor_selects_nothing(project: Project, calls: list[str]) -> None:
    auditor = make_person("dora", role=Role.AUDITOR, project=project)
    client = open_browser(auditor.user)
    assert (
        'id="selection"' not in client.get(f"/p/{project.slug}/queue/").content.decode()
    )
    path = f"/p/{project.slug}/queue/selection/"
    assert client.post(path, {"action": "approve", "pick": calls}).status_code == 403
