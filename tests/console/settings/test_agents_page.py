"""Settings → Agents and keys: what it shows to whom, and what admins do on it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.auth import find_principal, require_agent
from accounts.models import Agent, AgentKey, Project
from common.errors import Unauthenticated
from console.settings.agents.rows import build_agent_rows, list_agent_page
from tests.reviews.administration.test_chain import list_entries
from tests.support.browsing import open_browser
from tests.support.builders import Person, make_policy, make_project, make_robot


def get_path(project: Project, rest: str = "agents/") -> str:
    return f"/p/{project.slug}/settings/{rest}"


def test_an_admin_makes_an_agent_and_a_key_and_sees_it_once(
    project: Project, cleo: Person, bob: Person
) -> None:
    make_policy("strict", project=project)
    browser, owner = open_browser(cleo.user), bob.user.username
    assert "There is no agent yet" in browser.get(get_path(project)).content.decode()
    form = {"name": "<b>pilot</b>", "owner": owner, "policy": "strict"}
    form["description"] = "Releases the shop"
    answer = browser.post(get_path(project, "agents/new/"), form)
    agent = Agent.objects.get(project=project, name="<b>pilot</b>")
    assert answer["Location"].startswith(f"{get_path(project)}?agent={agent.code}")
    page = browser.get(answer["Location"]).content.decode()
    for words in ("&lt;b&gt;pilot", owner, "strict", "Releases the shop", "no run yet"):
        assert words in page, words

    path = get_path(project, f"agents/{agent.code}/keys/")
    sent = {"name": "ci", "scopes": ["runs:write"], "term": "7"}
    page = browser.post(path, sent).content.decode()
    (secret,) = set(re.findall(r"crk_[\w-]{43}", page))
    assert require_agent(find_principal(secret)).scopes == {"runs:write"}
    assert f"CHECKRAIL_KEY={secret}" in page
    page = browser.get(f"{get_path(project)}?agent={agent.code}").content.decode()
    assert secret not in page
    assert "1 key expires this week" in page

    key = AgentKey.objects.get(agent=agent)
    assert key.created_by == cleo.user
    browser.post(get_path(project, f"agents/{agent.code}/keys/{key.code}/revoke/"))
    with pytest.raises(Unauthenticated):
        find_principal(secret)
    kinds = [kind for kind, *_ in list_entries(project)[2:]]
    assert kinds == ["agent.created", "key.made", "key.revoked"]


def test_an_agent_is_changed_and_disabled(
    project: Project, cleo: Person, bob: Person
) -> None:
    make_robot(project=project)
    agent = Agent.objects.get(project=project, name="robo")
    browser = open_browser(cleo.user)
    path = get_path(project, f"agents/{agent.code}/")
    browser.post(f"{path}change/", {"owner": bob.user.username, "description": "x"})
    browser.post(f"{path}disable/")
    agents = Agent.objects.filter(pk=agent.pk, disabled_at=None)
    assert Agent.objects.get(pk=agent.pk, description="x").owner == bob.user
    assert not agents.exists()
    assert "disabled" in browser.get(get_path(project)).content.decode()
    browser.post(f"{path}enable/")
    assert agents.exists()
    wrong = browser.post(f"{path}change/", {"owner": "nobody"})
    assert wrong.status_code == 422


def test_an_agents_own_limits_are_set_shown_and_raised_for_the_day(
    project: Project, cleo: Person, alice: Person
) -> None:
    make_robot(project=project)
    agent = Agent.objects.get(project=project, name="robo")
    browser, path = open_browser(cleo.user), f"agents/{agent.code}/change/"
    limits = {"tokens": "500000", "tool_calls": "", "cost_usd": "20"}
    browser.post(get_path(project, path), limits)
    page = browser.get(f"{get_path(project)}?agent={agent.code}").content.decode()
    assert "Its own limits a day: 500,000 tokens, 20.00 USD." in page
    assert 'name="tokens" value="500000"' in page
    browser.post(get_path(project, path), {**limits, "cost_usd": "1.50"})
    agent.refresh_from_db()
    assert agent.cost_micros_limit == 1_500_000
    browser.post(get_path(project, path), limits)
    assert "limits none → 500,000 tokens, 20.00 USD" in page
    wrong = browser.post(get_path(project, path), {"tokens": "0"})
    assert wrong.status_code == 422
    assert "Limit tokens to a whole number" in wrong.content.decode()

    manager = open_browser(alice.user)
    address = f"/p/{project.slug}/limits/raise/?scope=agent_day&agent=robo"
    form = manager.get(address).content.decode()
    assert "its own" in form
    assert "For good" not in form
    more = {"tokens": "1000", "lasts": "period", "reason": "The release"}
    assert manager.post(address, more).status_code == 302
    browser.post(get_path(project, path), {"description": "no limits"})
    assert Agent.objects.get(pk=agent.pk).tokens_limit is None


@pytest.mark.parametrize(
    ("rest", "sent", "words"),
    [
        ("agents/new/", {"name": ""}, "Give the agent a name."),
        ("agents/new/", {"name": "robo"}, "There is an agent named robo already."),
        ("keys/", {"name": "", "scopes": ["evaluate"]}, "Say what the key is for"),
        ("keys/", {"name": "ci"}, "Choose at least one thing"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(
    project: Project, cleo: Person, rest: str, sent: dict[str, str], words: str
) -> None:
    make_robot(project=project)
    agent = Agent.objects.get(project=project, name="robo")
    path = f"agents/{agent.code}/{rest}" if rest == "keys/" else rest
    answer = open_browser(cleo.user).post(get_path(project, path), sent)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert "data-open-now" in answer.content.decode()
    assert AgentKey.objects.filter(agent=agent).count() == 1


@pytest.mark.parametrize("who", ["alice", "dora"])
def test_managers_and_auditors_look_on(
    who: str, project: Project, request: pytest.FixtureRequest
) -> None:
    person: Person = request.getfixturevalue(who)
    make_robot(project=project)
    agent = Agent.objects.get(project=project, name="robo")
    browser = open_browser(person.user)
    page = browser.get(f"{get_path(project)}?agent={agent.code}").content.decode()
    assert "Admins make and revoke keys." in page
    assert "new-agent" not in page
    for rest in ("disable/", "keys/", "change/"):
        path = get_path(project, f"agents/{agent.code}/{rest}")
        assert browser.post(path).status_code == 403
    agent.refresh_from_db()
    assert agent.disabled_at is None


def test_reviewers_have_no_such_page(project: Project, bob: Person) -> None:
    assert open_browser(bob.user).get(get_path(project)).status_code == 404


def test_keys_tell_when_they_were_used_and_when_they_end(
    project: Project, dora: Person
) -> None:
    make_robot(project=project)
    agent = Agent.objects.get(project=project, name="robo")
    now = timezone.now()
    AgentKey.objects.filter(agent=agent).update(
        expires_at=now - timedelta(hours=1), last_used_at=now - timedelta(days=28)
    )
    page = open_browser(dora.user).get(f"{get_path(project)}?agent={agent.code}")
    text = page.content.decode()
    assert '<td class="stop">expired</td>' in text
    assert "28 d" in text


def test_more_agents_and_keys_take_no_more_queries(
    project: Project, dora: Person
) -> None:
    browser = open_browser(dora.user)

    def count() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(get_path(project)).status_code == 200
        return len(asked)

    make_robot("first", project=project)
    count()
    before = count()
    for number in range(6):
        make_robot(f"robo-{number}", project=project)
    assert count() == before


def test_an_agent_is_found_by_its_name(project: Project, dora: Person) -> None:
    for name in ("checkout-fuzzer", "docs-sweeper"):
        make_robot(name, project=project)
    browser = open_browser(dora.user)
    page = browser.get(f"{get_path(project)}?q=FUZZ").content.decode()
    assert "checkout-fuzzer" in page
    assert "docs-sweeper" not in page
    page = browser.get(f"{get_path(project)}?q=nothing").content.decode()
    assert "Show all" in page


def test_the_next_page_begins_behind_the_last_agent(project: Project) -> None:
    other = make_project()
    for name in ("b", "a", "c"):
        make_robot(name, project=project)
    make_robot("d", project=other)
    found, more = list_agent_page(project_id=project.pk, after="a")
    assert ([agent.name for agent in found], more) == (["b", "c"], False)


def test_a_key_is_unused_by_its_last_use_and_before_that_by_its_making(
    project: Project, cleo: Person
) -> None:
    make_robot(project=project)
    agent = Agent.objects.get(project=project, name="robo")
    keys, now = AgentKey.objects.filter(agent=agent), timezone.now()
    long_ago, lately = now - timedelta(days=400), now - timedelta(days=1)
    for made, used, unused in (
        (long_ago, lately, False),
        (long_ago, long_ago, True),
        (long_ago, None, True),
        (lately, None, False),
    ):
        keys.update(created_at=made, last_used_at=used)
        agents = list_agent_page(project_id=project.pk)[0]
        (row,) = build_agent_rows(agents, policies={}, at=now)
        assert row.keys[0].unused is unused
