"""The tab Start: ticked by what is there, with commands that are right for this server."""

from __future__ import annotations

import re
import subprocess

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Agent, Invitation, Project
from accounts.services import issue_agent_key
from console.settings.start.commands import build_first_step_commands
from tests.support.browsing import open_browser
from tests.support.builders import Person, start_run, step
from tests.support.live import Live

pytestmark = pytest.mark.once("pages, not SQL")


def list_done(browser: Client, project: Project) -> list[str]:
    page = browser.get(f"/p/{project.slug}/settings/start/").content.decode()
    return re.findall(r'class="done" data-item="(\w+)"', page)


def test_each_item_is_ticked_by_what_is_there(
    project: Project, cleo: Person, live: Live
) -> None:
    browser = open_browser(cleo.user)
    base = f"/p/{project.slug}/settings/"
    assert list_done(browser, project) == []
    wanted = {"name": "Shop", "default_policy": "default"}
    assert browser.post(f"{base}project/change/", wanted).status_code == 302
    assert list_done(browser, project) == ["project"]
    _, key = issue_agent_key(name="robo", project_slug=project.slug)
    assert list_done(browser, project) == ["project", "agent"]
    with httpx.Client(
        base_url=live.api, headers={"Authorization": f"Bearer {key}"}
    ) as agent:
        run = start_run(agent)
        assert list_done(browser, project) == ["project", "agent"]
        agent.post(f"/runs/{run}/steps", json=step(1))
    assert list_done(browser, project) == ["project", "agent", "step"]
    page = browser.get(f"{base}start/").content.decode()
    assert "first step arrived" in page
    assert "every 2s" in page
    invited = {"email": "eve@example.com", "role": "reviewer"}
    browser.post(f"{base}people/invite/", invited)
    assert list_done(browser, project)[-1] == "people"
    invitations = Invitation.objects.filter(project=project)
    for ended in ("withdrawn_at", "accepted_at"):
        invitations.update(**{ended: timezone.now()})
        assert list_done(browser, project)[-1] == "step", ended
        invitations.update(**{ended: None})
    assert "every 2s" not in browser.get(f"{base}start/").content.decode()


def test_an_agent_made_here_has_its_key_in_the_commands(
    project: Project, cleo: Person, live: Live
) -> None:
    Project.objects.filter(pk=project.pk).update(name="Shop")
    browser = open_browser(cleo.user)
    path = f"/p/{project.slug}/settings/start/"
    refused = browser.post(f"{path}agent/", {"name": ""})
    assert refused.status_code == 422
    assert 'id="name-error"' in refused.content.decode()
    made = browser.post(f"{path}agent/", {"name": "robo"}).content.decode()
    (key,) = set(re.findall(r"crk_[\w-]{43}", made))
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx.get(f"{live.api}/runs", headers=headers).status_code == 200
    assert key not in browser.get(path).content.decode()
    owner = Agent.objects.get(project=project, name="robo").owner
    assert owner == cleo.user


def test_the_commands_send_a_first_step(
    project: Project, cleo: Person, live: Live
) -> None:
    _, key = issue_agent_key(name="robo", project_slug=project.slug)
    address = live.api.removesuffix("/api/v1")
    commands = build_first_step_commands(address=address, key=key)
    subprocess.run(["sh", "-ec", commands], check=True, timeout=60)
    assert "step" in list_done(open_browser(cleo.user), project)
