"""The tab Keyboard: keys are kept with the account, and no two actions share one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from accounts.models import Project
from console.models import Preferences
from console.preferences.keys import list_actions
from tests.runner.database import ROOT
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("forms and pages, not SQL")


def build_form(**changed: str) -> dict[str, str]:
    keys = {f"key-{action.usual}": action.usual for action in list_actions()}
    return {**keys, **changed}


def test_what_differs_is_kept_and_only_for_oneself(
    project: Project, alice: Person, bob: Person
) -> None:
    path = f"/p/{project.slug}/settings/keyboard/"
    form = build_form(**{"key-a": "Y", "key-x": "", "opens_next": "on"})
    assert open_browser(alice.user).post(f"{path}change/", form).status_code == 302
    kept = Preferences.objects.get(user=alice.user)
    assert kept.changed_keys == {"a": "y", "x": ""}
    assert (kept.single_keys, kept.opens_next) == (False, True)
    page = open_browser(alice.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert "&quot;a&quot;: &quot;y&quot;" in page
    assert "data-opens-next" in page
    assert '<html lang="en" data-keys="off">' in page
    others = open_browser(bob.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert 'data-key-changes="{}"' in others
    assert '<html lang="en">' in others


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"key-a": "d"}, "Approve, or send the answer has this key already"),
        ({"key-a": "3"}, "The digits pick an offered answer"),
        ({"key-a": "é"}, "One letter or sign"),
        ({"key-a": "zz"}, "One letter or sign"),
    ],
)
def test_a_key_that_cannot_be(
    project: Project, alice: Person, typed: dict[str, str], words: str
) -> None:
    path = f"/p/{project.slug}/settings/keyboard/change/"
    answer = open_browser(alice.user).post(path, build_form(**typed))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert Preferences.objects.get(user=alice.user).changed_keys == {}


def test_the_help_switches_single_keys_off_and_keeps_the_rest(
    project: Project, alice: Person
) -> None:
    Preferences.objects.filter(user=alice.user).update(changed_keys={"a": "y"})
    browser = open_browser(alice.user)
    path = f"/p/{project.slug}/settings/keyboard/switch/"
    assert browser.post(path).status_code == 204
    kept = Preferences.objects.get(user=alice.user)
    assert (kept.single_keys, kept.changed_keys) == (False, {"a": "y"})
    assert browser.post(path, {"single_keys": "on"}).status_code == 204
    assert Preferences.objects.get(user=alice.user).single_keys


def test_every_key_of_a_control_can_be_changed() -> None:
    named = {
        key
        for path in Path(ROOT, "templates").rglob("*.html")
        for key in re.findall(r'data-hotkey="([^"{]+)"', path.read_text())
    }
    assert {"a", "z", "/"} <= named
    assert named - {action.usual for action in list_actions()} == set()
