"""A link for a new password: it works once, while who made it could still make it."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Membership, Project, Role, User
from common.errors import Forbidden, NotFound
from reviews.administration.own.sign_ins import change_linked_password
from reviews.administration.people.password_links import (
    create_password_link,
    find_linked_user,
)
from tests.reviews.administration.entries import list_changes
from tests.support.browsing import open_browser, open_client
from tests.support.builders import Person, make_person, make_project
from tests.support.problems import problem

PASSWORD = "seven quiet otters"


def make_link(project: Project, of: Person, *, by: Person) -> str:
    """The path of the link."""
    made = create_password_link(
        project_id=project.pk, code=str(of.user.code), by=by.principal
    )
    return httpx.URL(made.address).path


def choose(path: str) -> int:
    chosen = dict.fromkeys(("new_password1", "new_password2"), PASSWORD)
    return open_client().post(path, chosen).status_code


def test_it_works_once(project: Project, cleo: Person, bob: Person) -> None:
    path = make_link(project, bob, by=cleo)
    assert open_client().get(path).status_code == 200
    assert choose(path) == 302
    assert open_client().login(username=bob.user.username, password=PASSWORD)
    assert (choose(path), open_client().get(path).status_code) == (404, 404)


def test_it_is_not_made_for_somebody_of_another_project(
    project: Project, cleo: Person, bob: Person
) -> None:
    Membership.objects.create(project=make_project(), user=bob.user, role=Role.REVIEWER)
    with pytest.raises(Forbidden):
        make_link(project, bob, by=cleo)


@pytest.mark.parametrize(
    "change", ["person joins", "person leaves", "removed", "demoted", "inactive"]
)
def test_it_ends_when_it_could_not_be_made_any_more(
    project: Project, cleo: Person, bob: Person, change: str
) -> None:
    path = make_link(project, bob, by=cleo)
    token = path.split("/")[-2]
    shown = find_linked_user(code=str(bob.user.code), token=token)
    assert shown is not None
    own = Membership.objects.filter(project=project, user=cleo.user)
    if change == "person joins":
        other = make_project()
        Membership.objects.create(project=other, user=bob.user, role=Role.REVIEWER)
    elif change == "person leaves":
        Membership.objects.filter(project=project, user=bob.user).delete()
    elif change == "removed":
        own.delete()
    elif change == "demoted":
        own.update(role=Role.MANAGER)
    else:
        User.objects.filter(pk=cleo.user.pk).update(is_active=False)

    assert (open_client().get(path).status_code, choose(path)) == (404, 404)
    # Also for whoever had the page open: it is asked again while it is stored.
    with pytest.raises(NotFound):
        change_linked_password(user=shown, token=token, password=PASSWORD)
    assert open_client().login(username=bob.user.username, password=bob.password)


def test_nobody_else_can_be_named_as_its_maker(
    project: Project, cleo: Person, bob: Person
) -> None:
    second = make_person("second", role=Role.ADMIN, project=project)
    path = make_link(project, bob, by=cleo)
    assert str(cleo.user.code) in path
    forged = path.replace(str(cleo.user.code), str(second.user.code))
    assert open_client().get(forged).status_code == 404
    nobody = path.replace(f"{cleo.user.code}.", "")
    assert open_client().get(nobody).status_code == 404


def test_no_token_makes_it_and_nobody_for_themselves(
    admin: httpx.Client, project: Project, cleo: Person, bob: Person
) -> None:
    """A token that leaked would become a password, which nobody revokes."""
    for person in (bob, cleo):
        refused = admin.post(f"/people/{person.user.code}/password-link")
        assert "Sign in" in problem(refused, "forbidden")["detail"]
    with pytest.raises(Forbidden, match="Settings → You"):
        make_link(project, cleo, by=cleo)
    base = f"/p/{project.slug}/settings/people/"
    browser = open_browser(cleo.user)
    own = browser.post(f"{base}{cleo.user.code}/password/")
    assert own.status_code == 422
    assert "Settings → You" in own.content.decode()
    page = browser.get(base).content.decode()
    assert f'data-dialog="reset-{bob.user.code}"' in page
    assert f"reset-{cleo.user.code}" not in page
    assert list_changes(project) == []
    made = browser.post(f"{base}{bob.user.code}/password/")
    assert "/password/" in made.content.decode()
