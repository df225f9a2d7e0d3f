"""The person who answers for an agent: named, shown, changed, and refused where wrong."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models import ProtectedError

from accounts.models import Agent, AgentKey, Project
from tests.support.builders import Person, Robot, unique


def run(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    call_command(*command)
    return capsys.readouterr().out


def get_owner(project: Project, name: str = "robo") -> str | None:
    agent = Agent.objects.select_related("owner").get(project=project, name=name)
    return agent.owner.username if agent.owner else None


def test_whoever_makes_a_key_names_the_owner(
    project: Project, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bob.user.username

    made = run(capsys, "agent_key", "robo", "--project", project.slug, "--owner", name)

    assert f"Owner {name}\n" in made
    assert get_owner(project) == name


def test_another_key_leaves_the_owner_or_names_another(
    project: Project, bob: Person, alice: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("agent_key", "robo", "--project", project.slug)
    run(capsys, *command, "--owner", bob.user.username)

    assert f"Owner {bob.user.username}\n" in run(capsys, *command)
    assert get_owner(project) == bob.user.username
    run(capsys, *command, "--owner", alice.user.username)
    assert get_owner(project) == alice.user.username


def test_the_line_of_json_stays_as_it_is(
    project: Project, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("agent_key", "robo", "--project", project.slug, "--json")

    assert "owner" not in run(capsys, *command, "--owner", bob.user.username)
    assert get_owner(project) == bob.user.username


def test_an_owner_is_somebody_of_the_project(
    project: Project, charlie: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither the agent nor its project is left behind by a command that was refused."""
    for slug in (project.slug, unique("new")):
        for name, words in (
            (unique("nobody"), "There is nobody named"),
            (charlie.user.username, "is not a member of"),
        ):
            with pytest.raises(CommandError, match=words):
                run(capsys, "agent_key", "robo", "--project", slug, "--owner", name)
        assert not Agent.objects.filter(project__slug=slug).exists()
        assert Project.objects.filter(slug=slug).exists() == (slug == project.slug)


def test_agents_are_listed_with_their_owners(
    project: Project, robo: Robot, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    owner = bob.user.username
    run(capsys, "agent_key", "aide", "--project", project.slug, "--owner", owner)

    listed = run(capsys, "agents", "list", "--project", project.slug)

    assert listed.splitlines() == [f"aide  owner {owner}", "robo  no owner"]
    keys = run(capsys, "agent_keys", "list", "aide", "--project", project.slug)
    assert keys.startswith(f"aide  owner {owner}\n")


def test_a_project_without_agents_says_so(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "no agent" in run(capsys, "agents", "list", "--project", project.slug)
    with pytest.raises(CommandError, match="There is no project 'nowhere'"):
        run(capsys, "agents", "list", "--project", "nowhere")


def test_the_owner_is_changed_without_another_key(
    project: Project, robo: Robot, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bob.user.username
    command = ("agents", "owner", robo.name, "--project", project.slug)

    assert run(capsys, *command, "--to", name) == f"robo  owner {name}\n"
    assert get_owner(project) == name
    assert run(capsys, *command, "--nobody") == "robo  no owner\n"
    assert get_owner(project) is None
    assert AgentKey.objects.filter(agent__project=project).count() == 1


def test_a_change_of_owner_is_refused_like_the_first_one(
    project: Project,
    robo: Robot,
    bob: Person,
    charlie: Person,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def change(name: str, *to: str) -> None:
        run(capsys, "agents", "owner", name, "--project", project.slug, *to)

    change("robo", "--to", bob.user.username)
    for name, to, words in (
        ("robo", ("--to", charlie.user.username), "is not a member of"),
        ("robo", ("--to", unique("nobody")), "There is nobody named"),
        ("other", ("--to", bob.user.username), "There is no agent 'other'"),
        ("robo", (), "required"),
        ("robo", ("--to", bob.user.username, "--nobody"), "not allowed with"),
    ):
        with pytest.raises(CommandError, match=words):
            change(name, *to)
    assert get_owner(project) == bob.user.username


def test_who_answers_for_an_agent_is_not_deleted(
    project: Project, robo: Robot, bob: Person
) -> None:
    Agent.objects.filter(project=project).update(owner=bob.user)

    with pytest.raises(ProtectedError):
        bob.user.delete()
