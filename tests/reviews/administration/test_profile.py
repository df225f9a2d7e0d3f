"""A person's profile: no mail goes to an address before its owner has opened the link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.core import signing
from django.utils import timezone

from accounts.models import Project, User
from reviews.administration.own import profile
from tests.notifications.mail_server import MailServer, receiving_mail
from tests.reviews.administration.entries import list_changes
from tests.support.browsing import open_browser, open_client
from tests.support.builders import Person
from tests.support.problems import problem

NEW = "dora@example.invalid"


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.MAIL_FROM = "checkrail@example.invalid"
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    with receiving_mail() as running:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


def find_link(server: MailServer) -> str:
    text = server.mails[-1].get_content()
    (link,) = re.findall(r"/address/\S+/", text)
    return str(link)


def save(project: Project, dora: Person, **form: str) -> Any:
    path = f"/p/{project.slug}/settings/you/profile/"
    return open_browser(dora.user).post(path, form)


def test_a_new_address_counts_once_its_link_was_opened(
    server: MailServer, project: Project, dora: Person, bob: Person
) -> None:
    form = {"name": "Dora Doe", "address": NEW, "time_zone": "Europe/Berlin"}
    assert save(project, dora, **form)["Location"].endswith("?profile=mailed")
    dora.user.refresh_from_db()
    assert (dora.user.email, dora.user.new_email) == ("", NEW)
    assert dora.user.display_name == "Dora Doe"
    assert str(server.mails[-1]["To"]) == NEW
    link = find_link(server)

    assert open_client().get(link)["Location"].startswith("/sign-in/")
    assert open_browser(bob.user).post(link).status_code == 404
    browser = open_browser(dora.user)
    assert NEW in browser.get(link).content.decode()
    dora.user.refresh_from_db()
    assert dora.user.email == ""  # to look at it is not to confirm it
    assert browser.post(link).status_code == 302
    dora.user.refresh_from_db()
    assert (dora.user.email, dora.user.new_email) == (NEW, "")
    bob.user.refresh_from_db()
    assert bob.user.email == ""
    assert browser.post(link).status_code == 404
    said = [payload["changed"] for kind, _, payload in list_changes(project)]
    assert said == [["name", "time_zone"], ["address"]]
    assert NEW not in str(list_changes(project))


def test_a_link_ends_with_its_address_and_its_time(
    server: MailServer, project: Project, dora: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(project, dora, address=NEW)
    first, browser = find_link(server), open_browser(dora.user)
    save(project, dora, address="other@example.invalid")
    assert browser.post(first).status_code == 404
    save(project, dora, address=NEW)
    monkeypatch.setattr(profile, "LIFETIME", timedelta(0))
    assert browser.post(first).status_code == 404
    monkeypatch.undo()
    forged = signing.dumps([str(dora.user.code), NEW], salt="another")
    assert browser.post(f"/address/{forged}/").status_code == 404
    dora.user.refresh_from_db()
    assert dora.user.email == ""


def test_links_do_not_fill_a_strangers_inbox(
    server: MailServer, project: Project, dora: Person
) -> None:
    save(project, dora, address=NEW)
    again = f"/p/{project.slug}/settings/you/address/"
    browser = open_browser(dora.user)
    assert browser.post(again)["Location"].endswith("?profile=waits")
    for number in range(3):
        address = f"dora{number}@example.invalid"
        assert save(project, dora, address=address)["Location"].endswith("=saved")
    assert len(server.mails) == 1
    longer = timezone.now() - timedelta(minutes=2)
    User.objects.filter(pk=dora.user.pk).update(new_email_sent_at=longer)
    server.refuses = True
    assert browser.post(again)["Location"].endswith("?profile=failed")
    server.refuses = False
    assert browser.post(again)["Location"].endswith("?profile=mailed")
    assert str(server.mails[-1]["To"]) == "dora2@example.invalid"
    assert len(server.mails) == 2


def test_the_address_before_hears_that_it_left(
    server: MailServer, project: Project, dora: Person
) -> None:
    User.objects.filter(pk=dora.user.pk).update(email="old@example.invalid")
    save(project, dora, address=NEW)
    dora.user.refresh_from_db()
    assert dora.user.email == "old@example.invalid"  # until the new one is confirmed
    assert open_browser(dora.user).post(find_link(server)).status_code == 302
    assert str(server.mails[-1]["To"]) == "old@example.invalid"
    assert "does not come here any more" in server.mails[-1].get_content()
    save(project, dora, address="")
    dora.user.refresh_from_db()
    assert dora.user.email == ""
    assert str(server.mails[-1]["To"]) == NEW


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"address": "dora"}, "This is no mail address"),
        ({"time_zone": "Mars/Base"}, "Choose one of the offered time zones"),
        ({"name": "x" * 61}, "at most 60 characters"),
    ],
)
def test_bad_input_is_told_and_nothing_kept(
    project: Project, dora: Person, form: dict[str, str], words: str
) -> None:
    answer = save(project, dora, **{"name": "Dora", "address": "", **form})
    assert answer.status_code == 422
    assert words in answer.content.decode()
    dora.user.refresh_from_db()
    assert (dora.user.first_name, dora.user.new_email) == ("", "")


def test_a_program_changes_a_part_and_no_more(
    server: MailServer, auditor: httpx.Client, dora: Person
) -> None:
    before = auditor.get("/me/profile").json()
    assert (before["name"], before["address"], before["language"]) == ("", "", "en")

    put = auditor.put("/me/profile", json={"time_zone": "Asia/Tokyo"})
    assert put.json() == {**before, "time_zone": "Asia/Tokyo", "mailed": False}
    put = auditor.put("/me/profile", json={"address": NEW}).json()
    assert (put["address"], put["unconfirmed_address"]) == ("", NEW)
    assert put["mailed"] is True
    assert put["time_zone"] == "Asia/Tokyo"
    # A token alone turns no mail: the link asks for its person.
    token = {"Authorization": f"Bearer {dora.token}"}
    url = str(auditor.base_url).replace("/api/v1/", find_link(server))
    assert httpx.post(url, headers=token).status_code in (302, 403)
    dora.user.refresh_from_db()
    assert dora.user.email == ""
    for wrong in (
        {"address": "dora"},
        {"time_zone": "Mars"},
        {"language": "xx"},
        {"mail": "x"},
    ):
        problem(auditor.put("/me/profile", json=wrong), "invalid")
