"""manage.py agent_key and user_add: what they print, and what they refuse."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from accounts.models import Agent, Membership, Project, User
from tests.support.builders import unique
from tests.support.live import Live
from tests.support.rows import each_row

pytestmark = pytest.mark.once("words of commands, not SQL")


def run_command(capsys: pytest.CaptureFixture[str], *command: Any) -> str:
    capsys.readouterr()
    call_command(*command)
    return capsys.readouterr().out


def opens(live: Live, secret: str, path: str) -> int:
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.get(live.api + path, headers=headers).status_code


def test_agent_key_prints_one_line_of_json(
    live: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = unique("new")

    shown = run_command(capsys, "agent_key", "robo", "--project", slug, "--json")

    assert shown.count("\n") == 1
    line = json.loads(shown)
    assert list(line) == ["project", "agent", "key"]
    assert line["project"] == slug
    assert line["agent"] == "robo"
    assert line["key"].startswith("crk_")
    assert Project.objects.filter(slug=slug).exists()
    assert opens(live, line["key"], "/runs") == 200


def test_a_second_key_is_for_the_same_agent(
    database: None, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = unique("new")
    command = ("agent_key", "robo", "--project", slug, "--json")

    keys = {json.loads(run_command(capsys, *command))["key"] for _ in range(2)}

    assert len(keys) == 2
    assert Agent.objects.filter(project__slug=slug, name="robo").count() == 1


def test_user_add_prints_one_line_of_json(
    live: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    slug, name = unique("new"), unique("alice")
    command = ("user_add", name, "--role", "manager", "--project", slug, "--json")

    shown = run_command(capsys, *command)

    assert shown.count("\n") == 1
    line = json.loads(shown)
    assert list(line) == ["user", "role", "project", "password", "token"]
    assert (line["user"], line["role"], line["project"]) == (name, "manager", slug)
    assert line["token"].startswith("crt_")
    assert User.objects.get(username=name).check_password(line["password"])
    assert Membership.objects.get(user__username=name).role == "manager"
    assert opens(live, line["token"], "/reviews") == 200


def test_user_add_again_changes_the_role_and_the_secrets(
    live: Live, capsys: pytest.CaptureFixture[str]
) -> None:
    slug, name = unique("new"), unique("alice")
    lines = [
        json.loads(
            run_command(
                capsys, "user_add", name, "--role", role, "--project", slug, "--json"
            )
        )
        for role in ("reviewer", "admin")
    ]

    assert Membership.objects.get(user__username=name).role == "admin"
    assert not User.objects.get(username=name).check_password(lines[0]["password"])
    assert User.objects.get(username=name).check_password(lines[1]["password"])
    assert [opens(live, line["token"], "/reviews") for line in lines] == [401, 200]


def test_a_password_of_user_add_is_good_for_one_sign_in(
    database: None, capsys: pytest.CaptureFixture[str]
) -> None:
    slug, name = unique("new"), unique("alice")
    command = ("user_add", name, "--role", "reviewer", "--project", slug, "--json")
    password = json.loads(run_command(capsys, *command))["password"]
    browser = Client()
    browser.post("/sign-in/", {"username": name, "password": password})

    assert browser.get(f"/p/{slug}/queue/")["Location"] == "/password/"
    own = dict.fromkeys(("new_password1", "new_password2"), "seven quiet otters")
    browser.post("/password/", own)
    assert browser.get(f"/p/{slug}/queue/").status_code == 200
    again = Client().post("/sign-in/", {"username": name, "password": password})
    assert again.status_code == 200  # the form again: it does not match


def test_the_same_commands_speak_to_people(
    database: None, capsys: pytest.CaptureFixture[str]
) -> None:
    slug = unique("new")
    shown = run_command(capsys, "agent_key", "robo", "--project", slug)
    assert "crk_" in shown
    assert "not shown again" in shown
    shown = run_command(
        capsys, "user_add", unique("bob"), "--role", "reviewer", "--project", slug
    )
    assert "crt_" in shown


@each_row(
    "command",
    [
        ("agent_key", "robo"),
        ("agent_key", "--project", "p"),
        ("agent_key", "", "--project", "p"),
        ("agent_key", "  ", "--project", "p"),
        ("agent_key", "a\nb", "--project", "p"),
        ("agent_key", "x" * 121, "--project", "p"),
        ("agent_key", "robo", "--project", "a/b"),
        ("agent_key", "robo", "--project", ""),
        ("agent_key", "robo", "--project", "é"),
        ("agent_key", "robo", "--project", "x" * 65),
        ("user_add", "bob", "--project", "p"),
        ("user_add", "bob", "--role", "boss", "--project", "p"),
        ("user_add", "bob", "--role", "admin"),
        ("user_add", "bob smith", "--role", "admin", "--project", "p"),
        ("user_add", "x" * 151, "--role", "admin", "--project", "p"),
        ("user_add", "bob", "--role", "admin", "--project", "a b"),
    ],
)
def test_wrong_arguments_are_refused(database: None, command: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        call_command(*command)


def test_the_longest_names_are_taken(
    database: None, capsys: pytest.CaptureFixture[str]
) -> None:
    name, slug = "x" * 120, unique("long").ljust(64, "y")
    made = run_command(capsys, "agent_key", name, "--project", slug)
    assert f"Agent {name} in project {slug}\n" in made
    assert "Owner" not in made
    person = unique("bob").ljust(120, "z")
    added = run_command(
        capsys, "user_add", person, "--role", "reviewer", "--project", slug
    )
    assert f"{person}, reviewer of {slug}\n" in added
    assert "(to be changed at first sign-in)" in added
    assert "not shown again" in added
