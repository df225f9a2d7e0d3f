"""Views of the run list: kept under a name, shared, seen by whom they may be, removed."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from accounts.models import Membership, Project
from console import saved_views as saved
from console.models import SavedView
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def keep(client: Client, project: Project, name: str, **more: str) -> str:
    given = {"name": name, "q": "status:failed cost>5", "sort": "-cost", **more}
    answer = client.post(f"/p/{project.slug}/runs/views/", given)
    assert answer.status_code == 302, answer.content
    return str(answer["Location"])


def list_names(client: Client, project: Project) -> list[str]:
    page = unescape(client.get(f"/p/{project.slug}/runs/").content.decode())
    (tabs,) = re.findall(r'<nav class="views".*?</nav>', page, re.S)
    names = re.findall(r"<a [^>]*>(.*?)</a>", tabs)
    return [re.sub(r"<[^>]*>", "", name) for name in names][7:]


def test_a_view_is_kept_shared_and_removed(
    project: Project, alice: Person, bob: Person, charlie: Person
) -> None:
    mine, other = open_browser(alice.user), open_browser(bob.user)
    address = keep(mine, project, "Dear failures")
    keep(mine, project, "Nightly", shared="on")

    assert address.endswith("/runs/?q=status%3Afailed+cost%3E5&sort=-cost")
    assert 'aria-current="page">Dear failures' in mine.get(address).content.decode()
    assert list_names(mine, project) == ["Dear failures", "Nightly"]
    shown = f"Nightly, shared by {alice.user.username}"
    assert list_names(other, project) == [shown]

    view = SavedView.objects.get(project=project, name="Nightly")
    path = f"/p/{project.slug}/runs/views/{view.code}/remove/"
    for stranger in (other, open_browser(charlie.user)):
        assert stranger.post(path).status_code == 404
    assert mine.post(path).status_code == 302
    assert list_names(other, project) == []


def test_the_same_name_replaces_a_view_and_there_are_only_so_many(
    project: Project, alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved, "LIMIT", 1)
    client = open_browser(alice.user)
    keep(client, project, "One")
    keep(client, project, "One", q="status:active")
    assert SavedView.objects.get(project=project).address.startswith(
        "q=status%3Aactive"
    )
    refused = client.post(f"/p/{project.slug}/runs/views/", {"name": "Two"})
    assert (refused.status_code, refused.content) == (
        422,
        b"You have 1 views. Remove one first.",
    )
    assert client.post(f"/p/{project.slug}/runs/views/", {}).status_code == 422


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("planet:mars", "there is no “planet” to filter by"),
        ("x" * 501, "A query has at most 500 characters."),
        ("🦉" * 200, "The query is too long to be kept. Write a shorter one."),
    ],
)
def test_a_view_that_could_not_be_shown_again_is_refused(
    project: Project, alice: Person, line: str, words: str
) -> None:
    given = {"name": "Owls", "q": line}
    refused = open_browser(alice.user).post(f"/p/{project.slug}/runs/views/", given)
    assert refused.status_code == 422
    assert words in refused.content.decode()
    assert not SavedView.objects.filter(project=project).exists()


def test_shared_views_go_with_their_owner_and_leave_room_for_ones_own(
    project: Project,
    alice: Person,
    bob: Person,
    cleo: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(saved, "LIMIT", 2)
    for person in (bob, cleo):
        for name in ("A", "B"):
            keep(open_browser(person.user), project, name, shared="on")
    client = open_browser(alice.user)
    keep(client, project, "Mine")
    assert len(list_names(client, project)) == 3
    assert list_names(client, project)[0] == "Mine"
    Membership.objects.filter(user=bob.user, project=project).delete()
    name = cleo.user.username
    shared = [f"A, shared by {name}", f"B, shared by {name}"]
    assert list_names(client, project) == ["Mine", *shared]


def test_managers_remove_what_others_share(
    project: Project, alice: Person, bob: Person, dora: Person
) -> None:
    address = keep(open_browser(bob.user), project, "Shared", shared="on")
    keep(open_browser(bob.user), project, "Own")
    paths = {
        view.name: f"/p/{project.slug}/runs/views/{view.code}/remove/"
        for view in SavedView.objects.filter(project=project)
    }
    manager, auditor = open_browser(alice.user), open_browser(dora.user)
    assert paths["Shared"] in manager.get(address).content.decode()
    assert paths["Shared"] not in auditor.get(address).content.decode()
    assert auditor.post(paths["Shared"]).status_code == 404
    assert manager.post(paths["Own"]).status_code == 404
    assert manager.post(paths["Shared"]).status_code == 302
    assert SavedView.objects.get(project=project).name == "Own"
