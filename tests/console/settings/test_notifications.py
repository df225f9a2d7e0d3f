"""The tab Notifications, and what a page out of sight asks for."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from console.models import Preferences
from notifications.models import Recipient
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
