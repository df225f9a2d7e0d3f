"""The tab You: one's own tokens and browsers, for everybody of the project."""

from __future__ import annotations

import re

import httpx
import pytest

from accounts.models import PersonalToken, Project, SignIn
from accounts.people.browsers import describe_browser
from tests.reviews.administration.entries import list_changes
from tests.support.browsing import open_browser, open_client
from tests.support.builders import Person
from tests.support.live import Live

pytestmark = pytest.mark.once("forms and pages, not SQL")
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def test_a_token_is_shown_once_and_ended(
    live: Live, project: Project, dora: Person
) -> None:
    browser, path = open_browser(dora.user), f"/p/{project.slug}/settings/you/"
    made = browser.post(f"{path}tokens/", {"name": "terminal", "days": "30"})
    (secret,) = set(re.findall(r"crt_[\w-]{43}", made.content.decode()))
    headers = {"Authorization": f"Bearer {secret}"}
    assert httpx.get(f"{live.api}/me/tokens", headers=headers).status_code == 200
    page = browser.get(path).content.decode()
    assert "terminal" in page
    assert secret not in page
    code = PersonalToken.objects.get(user=dora.user, name="terminal").code
    assert browser.post(f"{path}tokens/{code}/").status_code == 302
    assert httpx.get(f"{live.api}/me/tokens", headers=headers).status_code == 401
    refused = browser.post(f"{path}tokens/", {"name": "", "days": "30"})
    assert refused.status_code == 422
    assert 'id="name-error"' in refused.content.decode()


def test_a_sign_in_is_listed_and_ended(project: Project, bob: Person) -> None:
    path = f"/p/{project.slug}/settings/you/"
    form = {"username": bob.user.username, "password": bob.password}
    here, there, third = (open_client() for _ in range(3))
    for browser in (here, there, third):
        headers = {"User-Agent": FIREFOX}
        assert browser.post("/sign-in/", form, headers=headers).status_code == 302
    page = here.get(path).content.decode()
    assert page.count("Firefox on Linux") >= 3
    assert page.count('"chip">this browser') == 1
    other = SignIn.objects.get(session_key=there.session.session_key)
    assert here.post(f"{path}sign-ins/{other.code}/").status_code == 302
    assert there.get(path)["Location"].startswith("/sign-in/")
    assert here.post(f"{path}sign-out/").status_code == 302
    assert third.get(path)["Location"].startswith("/sign-in/")
    assert here.get(path).status_code == 200
    ended = [payload["browsers"] for _, _, payload in list_changes(project)]
    assert ended == [["Firefox on Linux"], ["Firefox on Linux"]]


def test_nobody_ends_what_is_not_theirs(
    project: Project, bob: Person, cleo: Person
) -> None:
    path = f"/p/{project.slug}/settings/you/"
    browser = open_browser(bob.user)
    browser.get(path)
    sign_in = SignIn.objects.get(user=bob.user)
    token = PersonalToken.objects.get(user=bob.user)
    admin = open_browser(cleo.user)
    assert admin.post(f"{path}sign-ins/{sign_in.code}/").status_code == 404
    assert admin.post(f"{path}tokens/{token.code}/").status_code == 404
    assert browser.get(path).status_code == 200


def test_a_browser_is_told_in_words() -> None:
    chrome = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140 Safari/537.36"
    assert describe_browser(chrome) == "Chrome on Windows"
    assert describe_browser(f"{chrome} Edg/140") == "Edge on Windows"
    assert describe_browser(FIREFOX) == "Firefox on Linux"
    assert describe_browser("curl/8") == "Unknown browser"
