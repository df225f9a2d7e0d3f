"""The tab Notifications, and what a page out of sight asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from accounts.models import Project, User
from console.models import Preferences
from notifications.models import Recipient
from tests.notifications.mail_server import MailServer, receiving_mail
from tests.reviews.floods import ask_to_run
from tests.support.browsing import open_browser
from tests.support.builders import Person, pause_run, start_run

pytestmark = pytest.mark.once("forms and pages, not SQL")


def test_choices_are_kept_and_shown(project: Project, bob: Person) -> None:
    browser, path = open_browser(bob.user), f"/p/{project.slug}/settings/notifications/"
    assert 'value="high" selected' in browser.get(path).content.decode()
    form = {"mail_from": "critical", "desktop_from": "medium", "sound": "on"}
    assert browser.post(f"{path}change/", form).status_code == 302
    assert Recipient.objects.get(user=bob.user).mail_from == "critical"
    kept = Preferences.objects.get(user=bob.user)
    assert (kept.desktop_from, kept.sound) == ("medium", True)
    page = browser.get(path).content.decode()
    assert 'data-desktop-from="medium"' in page
    assert "data-sound" in page
    assert browser.post(f"{path}change/", {"mail_from": "worst"}).status_code == 422


def test_a_page_hears_of_what_is_new_and_severe_enough(
    project: Project, bob: Person, charlie: Person, agent: httpx.Client
) -> None:
    browser, path = open_browser(bob.user), f"/p/{project.slug}/newest/"
    call = ask_to_run(agent, "rm -rf build")
    pause_run(agent, start_run(agent))
    assert browser.get(path).json() == {"items": []}  # never, until it is chosen
    Preferences.objects.filter(user=bob.user).update(desktop_from="high")
    (found,) = browser.get(path).json()["items"]
    assert found["url"] == f"/p/{project.slug}/queue/{call}/"
    assert found["about"].startswith("high, ")
    assert browser.get(path, {"since": str(found["at"])}).json() == {"items": []}
    assert len(browser.get(path, {"since": "x"}).json()["items"]) == 1
    assert open_browser(charlie.user).get(path).status_code == 404


@pytest.fixture
def server(settings: Any) -> Iterator[MailServer]:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.MAIL_FROM = "checkrail@example.invalid"
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    with receiving_mail() as running:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


def test_what_keeps_mail_away_is_said_in_red(
    settings: Any, project: Project, bob: Person, dora: Person
) -> None:
    path = f"/p/{project.slug}/settings/notifications/"
    settings.MAIL_FROM = ""

    def read(person: Person) -> str:
        return open_browser(person.user).get(path).content.decode()

    server_less = read(bob)
    assert "this server sends none" in server_less
    assert "Send me a test" not in server_less
    settings.MAIL_FROM = "checkrail@example.invalid"
    without = read(bob)
    assert '<div class="notice stop" role="alert">' in without
    assert "No mail reaches you: you have no address." in without
    assert f"/p/{project.slug}/settings/you/#profile-title" in without
    assert "Send me a test" not in without
    User.objects.filter(pk=bob.user.pk).update(new_email="bob@example.invalid")
    assert "bob@example.invalid is not confirmed" in read(bob)
    people = User.objects.filter(pk__in=[bob.user.pk, dora.user.pk])
    people.update(email="b@example.invalid", new_email="")
    known = read(bob)
    assert "No mail reaches you" not in known
    assert "As an auditor" not in known
    assert "Send me a test" in known
    assert "As an auditor you get none" in read(dora)


def test_a_test_goes_the_way_of_all_mail_and_says_what_became_of_it(
    server: MailServer, project: Project, bob: Person, alice: Person
) -> None:
    path = f"/p/{project.slug}/settings/notifications/"
    browser = open_browser(bob.user)
    assert browser.post(f"{path}test/")["Location"] == path  # there is nowhere to go
    assert server.mails == []
    User.objects.filter(pk=bob.user.pk).update(email="bob@example.invalid")
    browser = open_browser(User.objects.get(pk=bob.user.pk))

    done = browser.post(f"{path}test/", follow=True).content.decode()

    (mail,) = server.mails
    assert (mail["To"], mail["Subject"]) == (
        "bob@example.invalid",
        "Checkrail can reach you",
    )
    assert "The mail server took the test." in done
    server.refuses = True
    failed = browser.post(f"{path}test/", follow=True).content.decode()
    assert "The test was not sent." in failed
    assert "The mail server answered: 451 try later" in failed
    assert "The last mail to you was not sent." in browser.get(path).content.decode()
    server.server_close()
    server.shutdown()
    gone = browser.post(f"{path}test/", follow=True).content.decode()
    assert "The mail server cannot be reached" in gone
    assert not Recipient.objects.filter(user=alice.user).exists()
