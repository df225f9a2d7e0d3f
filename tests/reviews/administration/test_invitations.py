"""An invitation: mailed or shown once, used once, in time, by whoever has the link."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.core import mail
from django.utils import timezone

from accounts.models import Invitation, Membership, Project, Role, User
from common.errors import NotFound
from reviews.administration.people.invitations import send_invitation_again
from reviews.administration.people.joining import find_invitation, join_project
from tests.reviews.administration.entries import list_changes
from tests.support.browsing import open_browser, open_client
from tests.support.builders import Person, make_person, unique
from tests.support.problems import problem

PASSWORD = "seven quiet otters"


def invite(admin: httpx.Client, email: str = "", **more: str) -> httpx.Response:
    body = {"email": email or f"{unique('eve')}@example.com", "role": "reviewer"}
    return admin.post("/people/invitations", json=body | more)


def get_path(answer: httpx.Response) -> str:
    return httpx.URL(answer.json()["link"]).path


def join(path: str, name: str) -> int:
    form = {"username": name, "password": PASSWORD, "again": PASSWORD}
    return open_client().post(path, form).status_code


def test_without_mail_the_link_is_shown_once_and_lets_one_person_in(
    admin: httpx.Client, project: Project, cleo: Person
) -> None:
    made = invite(admin, role="auditor")
    assert (made.status_code, made.json()["mailed"]) == (201, False)
    (waiting,) = admin.get("/people").json()["invitations"]
    assert waiting["invited_by"] == cleo.user.username
    assert "link" not in waiting
    path, name = get_path(made), unique("eve")
    assert open_client().get(path).status_code == 200  # as a scanner of mail would
    assert join(path, name) == 302
    assert (join(path, unique("mallory")), open_client().get(path).status_code) == (
        *(404, 404),
    )
    user = User.objects.get(username=name)
    assert user.email == made.json()["email"]
    assert Membership.objects.get(user=user).role == "auditor"
    assert admin.get("/people").json()["invitations"] == []
    invited, joined = list_changes(project)
    assert invited[0] == "person.invited"
    assert joined[:2] == ("person.joined", f"user:{user.code}")
    assert joined[2]["invited_by"] == cleo.user.username


def test_with_mail_only_the_mail_has_the_link(
    admin: httpx.Client, settings: object
) -> None:
    settings.MAIL_FROM = "Checkrail <checkrail@example.com>"  # type: ignore[attr-defined]
    mail.outbox.clear()
    made = invite(admin)
    assert (made.json()["mailed"], made.json()["link"]) == (True, None)
    (sent,) = mail.outbox
    assert sent.to == [made.json()["email"]]
    link = next(line for line in sent.body.splitlines() if "/join/" in line)
    assert join(httpx.URL(link).path, unique("eve")) == 302


def test_a_new_link_ends_the_old_one_and_taking_it_back_ends_both(
    admin: httpx.Client, project: Project
) -> None:
    made = invite(admin)
    path = f"/invitations/{made.json()['id']}"
    again = admin.post(f"{path}/send")
    assert again.status_code == 200
    assert open_client().get(get_path(made)).status_code == 404
    assert open_client().get(get_path(again)).status_code == 200
    assert admin.delete(path).status_code == 204
    assert join(get_path(again), unique("eve")) == 404
    problem(admin.delete(path), "not-found")
    assert [kind for kind, *_ in list_changes(project)] == [
        *("person.invited", "person.invited", "person.invitation_withdrawn")
    ]


def test_an_old_link_lets_nobody_in(admin: httpx.Client) -> None:
    made = invite(admin)
    Invitation.objects.filter(code=made.json()["id"]).update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )
    assert join(get_path(made), unique("eve")) == 404


@pytest.mark.parametrize("gone", ["removed", "demoted", "inactive"])
def test_a_link_ends_when_who_made_it_is_no_admin_any_more(
    admin: httpx.Client, project: Project, cleo: Person, gone: str
) -> None:
    second = make_person("second", role=Role.ADMIN, project=project)
    made = invite(admin, role="admin")
    path, secret = get_path(made), get_path(made).split("/")[-2]
    invitation = find_invitation(secret)
    assert invitation is not None
    own = Membership.objects.filter(project=project, user=cleo.user)
    if gone == "removed":
        own.delete()
    elif gone == "demoted":
        own.update(role=Role.MANAGER)
    else:
        User.objects.filter(pk=cleo.user.pk).update(is_active=False)

    assert open_client().get(path).status_code == 404
    assert join(path, unique("eve")) == 404
    # Also for whoever had the page open: it is asked again while nobody changes roles.
    with pytest.raises(NotFound):
        join_project(invitation=invitation, secret=secret, user=second.user)
    page = open_browser(second.user).get(f"/p/{project.slug}/settings/people/")
    assert b"link ended" in page.content

    sent = send_invitation_again(
        project=project, code=made.json()["id"], by=second.principal
    )
    assert join(httpx.URL(sent.address).path, unique("eve")) == 302
    assert list_changes(project)[-1][2]["invited_by"] == second.user.username


def test_an_address_is_invited_once(admin: httpx.Client, bob: Person) -> None:
    User.objects.filter(pk=bob.user.pk).update(email="bob@example.com")
    for known in ("BOB@example.com", "no address", ""):
        body = {"email": known, "role": "reviewer"}
        refused = admin.post("/people/invitations", json=body)
        assert problem(refused, "invalid")["errors"][0]["loc"] == ["email"]
    email = f"{unique('eve')}@example.com"
    assert invite(admin, email).status_code == 201
    problem(invite(admin, email.upper()), "invalid")


def test_whoever_has_an_account_joins_with_it(
    admin: httpx.Client, project: Project, charlie: Person, bob: Person
) -> None:
    path = get_path(invite(admin))
    refused = open_browser(bob.user).post(path)
    assert refused.status_code == 422
    assert b"already" in refused.content
    assert open_browser(charlie.user).post(path).status_code == 302
    assert Membership.objects.filter(project=project, user=charlie.user).exists()
    assert open_browser(charlie.user).get(path).status_code == 404


@pytest.mark.once("a form, not SQL")
def test_errors_stand_at_their_fields(admin: httpx.Client, bob: Person) -> None:
    path = get_path(invite(admin))
    cases = {
        "username-error": {"username": bob.user.username.upper()},
        "password-error": {"password": "short", "again": "short"},
        "again-error": {"again": "something else"},
    }
    good = {"username": unique("eve"), "password": PASSWORD, "again": PASSWORD}
    for place, wrong in cases.items():
        answer = open_client().post(path, good | wrong)
        assert answer.status_code == 422
        assert f'id="{place}"' in answer.content.decode()
    lookalike = open_client().post(path, good | {"username": "аlice"})  # noqa: RUF001
    assert lookalike.status_code == 422
    assert join(path, good["username"]) == 302


@pytest.mark.parametrize("ending", ["revoked_at", "expires_at"])
def test_an_invitation_ends_with_the_token_that_made_it(
    admin: httpx.Client, cleo: Person, project: Project, ending: str
) -> None:
    made = invite(admin, role="admin")
    path, name = get_path(made), unique("mallory")
    assert open_client().get(path).status_code == 200
    cleo.user.tokens.update(**{ending: timezone.now()})
    assert open_client().get(path).status_code == 404
    assert join(path, name) == 404
    assert not User.objects.filter(username=name).exists()
    # Who is signed in and sends it again answers for it.
    again = send_invitation_again(
        project=project, code=made.json()["id"], by=cleo.principal
    )
    assert join(httpx.URL(again.address).path, name) == 302
