"""manage.py tokens and agent_keys: listed, revoked, and never shown again."""

from __future__ import annotations

import httpx
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts import secrets
from accounts.models import AgentKey, PersonalToken, Project
from accounts.services import issue_agent_key
from tests.support.builders import Person, Robot, make_project
from tests.support.live import Live

pytestmark = pytest.mark.once("words of commands, not SQL")


def run(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    call_command(*command)
    return capsys.readouterr().out


def opens(live: Live, secret: str) -> int:
    path = "/runs" if secret.startswith("crk_") else "/reviews"
    headers = {"Authorization": f"Bearer {secret}"}
    return httpx.get(live.api + path, headers=headers).status_code


def test_tokens_of_a_person_are_listed_and_revoked_one_by_one(
    live: Live, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bob.user.username
    shown = run(capsys, "tokens", "add", name)
    second = next(word for word in shown.split() if word.startswith("crt_"))
    assert [opens(live, token) for token in (bob.token, second)] == [200, 200]

    listed = run(capsys, "tokens", "list", name)
    assert secrets.get_prefix(bob.token) in listed
    assert secrets.get_prefix(second) in listed
    assert bob.token not in listed
    said = run(
        capsys, "tokens", "revoke", name, "--token", secrets.get_prefix(bob.token)
    )

    assert "1 token" in said
    assert [opens(live, token) for token in (bob.token, second)] == [401, 200]
    assert "revoked" in run(capsys, "tokens", "list", name)


def test_all_tokens_of_a_person_are_revoked_at_once(
    live: Live, bob: Person, alice: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "tokens", "add", bob.user.username)
    said = run(capsys, "tokens", "revoke", bob.user.username, "--all")
    assert "2 tokens" in said
    assert [opens(live, token) for token in (bob.token, alice.token)] == [401, 200]


def test_an_agents_keys_are_listed_and_revoked(
    live: Live, project: Project, robo: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    _, second = issue_agent_key(name="robo", project_slug=project.slug)
    issue_agent_key(name="other", project_slug=project.slug)
    assert [opens(live, key) for key in (robo.key, second)] == [200, 200]
    own = ("robo", "--project", project.slug)

    listed = run(capsys, "agent_keys", "list", *own)
    assert listed.count("crk_") == 2
    assert robo.key not in listed
    # A whole key is taken too: that is what is at hand when one has leaked.
    run(capsys, "agent_keys", "revoke", *own, "--key", robo.key)

    assert [opens(live, key) for key in (robo.key, second)] == [401, 200]
    run(capsys, "agent_keys", "revoke", *own, "--all")
    assert opens(live, second) == 401


def test_what_is_not_theirs_is_refused(
    project: Project, bob: Person, alice: Person, robo: Robot
) -> None:
    name = bob.user.username
    for command in (
        ("tokens", "list", "nobody-of-this-name"),
        ("tokens", "add", "nobody-of-this-name"),
        ("tokens", "revoke", name),
        ("tokens", "revoke", name, "--token", "crt_00000000"),
        ("tokens", "revoke", name, "--token", secrets.get_prefix(alice.token)),
        ("tokens", "revoke", name, "--all", "--token", secrets.get_prefix(bob.token)),
        ("tokens", "revoke", name, "--token", "crt_"),
        ("agent_keys", "list", "nobody", "--project", project.slug),
        ("agent_keys", "list", "robo", "--project", "no-such-project"),
        ("agent_keys", "revoke", "robo", "--project", project.slug, "--key", "x"),
    ):
        with pytest.raises(CommandError):
            call_command(*command)


def test_a_whole_key_ends_itself_and_none_that_begins_like_it(
    live: Live, project: Project, robo: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    own = ("robo", "--project", project.slug)
    twin_key, _ = issue_agent_key(name="robo", project_slug=project.slug)
    lookup = secrets.get_prefix(robo.key)
    misspelt = robo.key[:-1] + ("A" if robo.key[-1] != "A" else "B")
    with pytest.raises(CommandError, match="There is no key"):
        run(capsys, "agent_keys", "revoke", *own, "--key", misspelt)
    # Found by chance once in 2^48 keys: made here by hand.
    AgentKey.objects.filter(pk=twin_key.pk).update(lookup=lookup)
    with pytest.raises(CommandError, match="Several"):
        run(capsys, "agent_keys", "revoke", *own, "--key", lookup)
    assert opens(live, robo.key) == 200

    run(capsys, "agent_keys", "revoke", *own, "--key", robo.key)

    assert opens(live, robo.key) == 401
    twin_key.refresh_from_db()
    assert twin_key.revoked_at is None


def test_what_is_listed_says_when_and_whether_and_the_newest_first(
    live: Live, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    name = bob.user.username
    run(capsys, "tokens", "add", name)
    opens(live, bob.token)
    run(capsys, "tokens", "revoke", name, "--token", bob.token)

    newest, oldest = run(capsys, "tokens", "list", name).splitlines()

    assert oldest.startswith(secrets.get_prefix(bob.token))
    assert "last used never" not in oldest
    assert " revoked 20" in oldest
    assert "last used never" in newest
    assert newest.endswith("in force")
    assert newest.count(" UTC") == 1
    assert run(capsys, "tokens", "revoke", name, "--all").startswith("1 token revoked")
    assert run(capsys, "tokens", "revoke", name, "--all").startswith("0 tokens")
    PersonalToken.objects.filter(user=bob.user).delete()
    assert "There is no token." in run(capsys, "tokens", "list", name)


def test_another_agents_or_projects_keys_are_not_touched(
    live: Live, project: Project, robo: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    _, beside = issue_agent_key(name="other", project_slug=project.slug)
    _, elsewhere = issue_agent_key(name="robo", project_slug=make_project().slug)
    own = ("robo", "--project", project.slug)

    assert run(capsys, "agent_keys", "list", *own).count("crk_") == 1
    for key in (beside, elsewhere):
        with pytest.raises(CommandError, match="There is no key"):
            run(capsys, "agent_keys", "revoke", *own, "--key", key)
    assert "1 key revoked" in run(capsys, "agent_keys", "revoke", *own, "--all")

    found = [opens(live, key) for key in (robo.key, beside, elsewhere)]
    assert found == [401, 200, 200]
