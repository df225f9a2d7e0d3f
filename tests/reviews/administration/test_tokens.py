"""A person's own tokens: shown once, named, ended, and no good after their time."""

from __future__ import annotations

from datetime import datetime, timedelta

import httpx
import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts import auth
from accounts.auth import require_person
from accounts.models import Membership, PersonalToken, Project, Role
from common.errors import Unauthenticated
from reviews.administration.own.tokens import create_token
from tests.reviews.administration.entries import list_changes
from tests.support.builders import Person, make_project
from tests.support.live import Live
from tests.support.problems import problem


def ask(live: Live, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.get(f"{live.api}/me/tokens", headers=headers).status_code


def write(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_a_token_is_shown_once_and_ends_when_told(
    reviewer: httpx.Client, live: Live, project: Project, bob: Person
) -> None:
    made = reviewer.post("/me/tokens", json={"name": "terminal"})
    assert made.status_code == 201
    secret = made.json()["token"]
    assert ask(live, secret) == 200
    newest, first = reviewer.get("/me/tokens").json()["items"]
    assert (newest["name"], newest["prefix"]) == ("terminal", secret[:12])
    assert newest["expires_at"] is None
    assert "token" not in newest
    stored = PersonalToken.objects.get(code=newest["id"])
    assert secret not in str(vars(stored))
    assert reviewer.delete(f"/me/tokens/{newest['id']}").status_code == 204
    assert ask(live, secret) == 401
    assert reviewer.get("/me/tokens").json()["items"] == [first]
    problem(reviewer.delete(f"/me/tokens/{newest['id']}"), "not-found")
    assert [
        (kind, payload["token_name"]) for kind, _, payload in list_changes(project)
    ] == [
        ("token.made", "terminal"),
        ("token.revoked", "terminal"),
    ]
    assert secret not in str(list_changes(project))


def test_each_project_of_the_person_tells_of_it(
    reviewer: httpx.Client, project: Project, bob: Person
) -> None:
    other = make_project()
    Membership.objects.create(project=other, user=bob.user, role=Role.AUDITOR)
    assert reviewer.post("/me/tokens", json={"name": "ci"}).status_code == 201
    for each in (project, other):
        ((kind, actor, _),) = list_changes(each)
        assert (kind, actor) == ("token.made", bob.principal.actor)


def test_a_token_opens_nothing_after_its_time(
    reviewer: httpx.Client, live: Live
) -> None:
    body = {"name": "ci", "expires_at": write(timezone.now() + timedelta(hours=1))}
    made = reviewer.post("/me/tokens", json=body).json()
    assert ask(live, made["token"]) == 200
    rows = PersonalToken.objects.filter(code=made["id"])
    rows.update(expires_at=timezone.now() - timedelta(seconds=1))
    auth.forget_secret(rows.get().digest)  # what a few seconds do
    assert ask(live, made["token"]) == 401
    assert made["id"] not in reviewer.get("/me/tokens").text


def test_what_is_made_with_a_token_does_not_outlive_it(
    reviewer: httpx.Client, live: Live
) -> None:
    end = timezone.now() + timedelta(hours=1)
    body = {"name": "short", "expires_at": write(end)}
    made = reviewer.post("/me/tokens", json=body).json()
    headers = {"Authorization": f"Bearer {made['token']}"}
    with httpx.Client(base_url=live.api, headers=headers) as client:
        again = client.post("/me/tokens", json={"name": "child"})
        assert again.json()["expires_at"] == made["expires_at"]
        later = {"name": "later", "expires_at": write(end + timedelta(hours=1))}
        refused = problem(client.post("/me/tokens", json=later), "invalid")
        assert refused["errors"][0]["loc"] == ["expires_at"]


def make_with(live: Live, token: str, name: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.post(f"{live.api}/me/tokens", headers=headers, json={"name": name})


def test_with_a_token_end_those_made_with_it_and_with_them(
    live: Live, project: Project, bob: Person
) -> None:
    first = make_with(live, bob.token, "first").json()
    child = make_with(live, first["token"], "child").json()
    grandchild = make_with(live, child["token"], "grandchild").json()
    aside = make_with(live, bob.token, "aside").json()
    headers = {"Authorization": f"Bearer {aside['token']}"}
    path = f"{live.api}/me/tokens/{first['id']}"
    assert httpx.delete(path, headers=headers).status_code == 204
    assert [ask(live, each["token"]) for each in (first, child, grandchild, aside)] == [
        401,
        401,
        401,
        200,
    ]
    kind, _, payload = list_changes(project)[-1]
    assert kind == "token.revoked"
    assert payload["also_ended"] == [
        {"token": each["id"], "token_name": each["name"], "prefix": each["prefix"]}
        for each in (child, grandchild)
    ]


def test_a_command_ends_what_was_made_with_a_token_too(
    live: Live, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    child = make_with(live, bob.token, "child").json()
    call_command("tokens", "revoke", bob.user.username, "--token", bob.token)
    assert "2 tokens revoked" in capsys.readouterr().out
    assert ask(live, child["token"]) == 401


def test_a_token_that_was_revoked_elsewhere_makes_none(bob: Person) -> None:
    """A process that has not heard of it yet asks the database."""
    used = require_person(auth.find_principal(bob.token))
    PersonalToken.objects.filter(user=bob.user).update(revoked_at=timezone.now())
    with pytest.raises(Unauthenticated):
        create_token(by=used, name="late", expires_at=None)


def test_wrong_tokens_are_refused(reviewer: httpx.Client) -> None:
    past = write(timezone.now() - timedelta(hours=1))
    for body in (
        {},
        {"name": ""},
        {"name": "x" * 61},
        {"name": "x", "expires_at": past},
        {"name": "x", "expires_at": 5},
        {"name": "x", "expires_at": "2027-01-01T00:00:00"},
        {"name": "x", "scopes": []},
    ):
        problem(reviewer.post("/me/tokens", json=body), "invalid")
