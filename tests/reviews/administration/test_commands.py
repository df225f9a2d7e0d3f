"""What commands do to people and tokens stands in the chain, like what admins do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import AgentKey, Project, User
from demo.keys import DEMO_PROJECT, issue_simulation_keys, revoke_keys
from ledger.models import Run
from ledger.verification.verify import verify_run
from tests.reviews.administration.entries import list_changes
from tests.support.builders import Person, make_project, unique


def add_user(capsys: pytest.CaptureFixture[str], name: str, *more: str) -> Any:
    capsys.readouterr()
    call_command("user_add", name, *more, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_person_whom_a_command_adds_and_changes(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    name, here = unique("dora"), ("--project", project.slug)
    elsewhere = make_project()
    first = add_user(capsys, name, "--role", "reviewer", *here)
    user = User.objects.get(username=name)
    about = {"person": str(user.code), "name": name}
    joined, made = list_changes(project)
    assert joined[0] == "person.joined"
    assert joined[2] == {**about, "role": "reviewer"}
    assert made[0] == "token.made"
    assert first["token"].startswith(made[2]["prefix"])

    add_user(capsys, name, "--role", "auditor", "--project", elsewhere.slug)
    second = add_user(capsys, name, "--role", "admin", *here)
    own = ["token.revoked", "person.password_given", "token.made"]
    entries = list_changes(project)
    kinds = [kind for kind, *_ in entries[2:]]
    assert kinds == [*own, "person.changed", *own]
    assert entries[5][2]["after"] == {"role": "admin"}
    there = [kind for kind, *_ in list_changes(elsewhere)]
    assert there == ["person.joined", *own, *own]
    assert {actor for _, actor, _ in entries} == {"system:system-settings"}
    for secret in (first["token"], second["token"], second["password"]):
        assert secret not in str(entries)
    for chain in Run.objects.filter(project__in=[project, elsewhere]):
        assert verify_run(chain).ok


def test_a_project_that_a_command_makes_says_so(
    database: None, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = unique("made")
    add_user(capsys, unique("dora"), "--role", "admin", "--project", slug)
    made = Project.objects.get(slug=slug)
    assert [kind for kind, *_ in list_changes(made)] == [
        *("project.created", "person.joined", "token.made"),
    ]


def test_tokens_that_a_command_adds_and_revokes(
    project: Project, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bob.user.username
    call_command("tokens", "add", name)
    for _ in range(2):  # the second has nothing to end
        call_command("tokens", "revoke", name, "--all")
    assert [kind for kind, *_ in list_changes(project)] == [
        *("token.made", "token.revoked", "token.revoked"),
    ]
    assert not bob.user.tokens.filter(revoked_at=None).exists()
    assert "0 tokens revoked" in capsys.readouterr().out


def test_keys_of_demo_agents_are_told_of(database: None) -> None:
    (name,) = issue_simulation_keys(1)
    revoke_keys([name])
    key = AgentKey.objects.filter(agent__name=name).latest("pk")
    told = [
        kind
        for kind, _, payload in list_changes(Project.objects.get(slug=DEMO_PROJECT))
        if payload.get("key") == str(key.code)
    ]
    assert told == ["key.made", "key.revoked"]
