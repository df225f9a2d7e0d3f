"""manage.py simulate: the same fleet on demand, with agents of its own."""

from __future__ import annotations

import re
import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Agent, AgentKey, Role
from accounts.services import ensure_project
from demo.agents.profiles import PROFILES
from demo.keys import DEMO_PROJECT, issue_demo_keys
from ledger.models import Run
from tests.support.builders import make_person
from tests.support.live import Live


def test_it_works_for_some_seconds_and_tells_what_it_did(live: Live) -> None:
    demo = issue_demo_keys()
    out = StringIO()
    call_command("simulate", agents=2, seconds=4, url=live.url, stdout=out)
    text = out.getvalue()
    assert "2 agents are at work" in text
    assert re.search(r"^Runs started +2$", text, re.MULTILINE)
    assert re.search(r"^Steps reported +[1-9]\d* \(\d+\.\d a second\)$", text, re.M)
    assert re.search(r"^Decisions +.*\d+ continue", text, re.MULTILINE)
    assert re.search(r"^Calls judged +none$", text, re.MULTILINE)
    assert re.search(r"^Errors +0$", text, re.MULTILINE)

    ours = Run.objects.filter(agent__project__slug=DEMO_PROJECT)
    simulated = ours.filter(agent__name__startswith="sim-")
    assert set(simulated.values_list("agent__name", flat=True)) == {
        "sim-001",
        "sim-002",
    }
    assert not simulated.filter(status="running").exists()

    keys = AgentKey.objects.filter(agent__project__slug=DEMO_PROJECT, revoked_at=None)
    holders = set(keys.values_list("agent__name", flat=True))
    assert holders == set(demo) == {profile.name for profile in PROFILES}


def test_without_a_server_it_says_how_to_start_one(database: None) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(CommandError, match="Start one with make run"):
            call_command("simulate", seconds=1, url=url)


@pytest.mark.parametrize("arguments", [["--agents", "0"], ["--seconds", "0"]])
def test_figures_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="must be"):
        call_command("simulate", *arguments)


def test_a_new_start_of_the_demo_revokes_the_keys_of_the_last(database: None) -> None:
    first, second = issue_demo_keys(), issue_demo_keys()
    assert set(first) == set(second)
    assert not set(first.values()) & set(second.values())
    keys = AgentKey.objects.filter(agent__project__slug=DEMO_PROJECT, revoked_at=None)
    assert keys.count() == len(PROFILES)


def test_the_first_person_answers_for_the_agents_of_the_demo(database: None) -> None:
    project = ensure_project(slug=DEMO_PROJECT)
    first = make_person("admin", role=Role.ADMIN, project=project).user

    issue_demo_keys(owner=first)
    issue_demo_keys()  # a later start: somebody is there already

    agents = Agent.objects.filter(project=project)
    shown = agents.filter(name__in=[profile.name for profile in PROFILES])
    assert set(shown.values_list("owner", flat=True)) == {first.pk}
