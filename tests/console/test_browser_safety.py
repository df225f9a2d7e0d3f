"""What browsers are told to refuse: framing, foreign scripts, cookies for others."""

from __future__ import annotations

import json
import re
from http.cookies import SimpleCookie
from pathlib import Path

import httpx
import pytest

from accounts.models import Project
from tests.support.builders import Person
from tests.support.live import Live
from tests.support.processes import manage, up
from tests.support.programs.ports import reserve_port

pytestmark = pytest.mark.once("judges requests and answers, not what is stored")

POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "font-src": "'self'",
    "img-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "object-src": "'none'",
    "frame-ancestors": "'none'",
}
OTHERS = {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
PAGES = {
    "/sign-in/": 200,
    "/p/nowhere/queue/": 302,
    "/nowhere/": 404,
    "/api/v1/docs": 200,
    "/problems/invalid": 200,
}
# Lasts while the session does, is seen by no script, and goes to nobody else.
SESSION = {"path": "/", "samesite": "Lax", "httponly": True}
CSRF = {"path": "/", "samesite": "Lax"}


def read_policy(answer: httpx.Response) -> dict[str, str]:
    parts = answer.headers["content-security-policy"].split("; ")
    directives = dict(part.partition(" ")[::2] for part in parts)
    assert len(directives) == len(parts)
    return directives


def read_cookies(answer: httpx.Response) -> dict[str, dict[str, object]]:
    """Each cookie by its name, with what is said of it; how long it lasts left out."""
    jar: SimpleCookie = SimpleCookie()
    for line in answer.headers.get_list("set-cookie"):
        jar.load(line)
    return {
        name: {
            key: value
            for key, value in morsel.items()
            if value and key not in {"expires", "max-age"}
        }
        for name, morsel in jar.items()
    }


def sign_in(
    client: httpx.Client, *, name: str, password: str, csrf: str
) -> tuple[httpx.Response, httpx.Response]:
    """The form as it was served, and the answer to it."""
    page = client.get("/sign-in/")
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token is not None
    form = {
        "username": name,
        "password": password,
        "csrfmiddlewaretoken": token[1],
    }
    # Over plain HTTP on a made-up name: the client would keep no such cookie.
    cookie = f"{csrf}={page.cookies[csrf]}"
    answer = client.post("/sign-in/", data=form, headers={"Cookie": cookie})
    return page, answer


def test_the_whole_content_policy_stands_on_every_page(live: Live) -> None:
    for path, status in PAGES.items():
        answer = httpx.get(live.url + path)
        assert answer.status_code == status, path
        assert read_policy(answer) == POLICY, path
        told = {name: answer.headers.get(name) for name in OTHERS}
        assert told == OTHERS, path


def test_cookies_are_for_this_site_and_the_session_for_no_script(
    live: Live, project: Project, alice: Person
) -> None:
    with httpx.Client(base_url=live.url) as client:
        page, answer = sign_in(
            client,
            name=alice.user.username,
            password=alice.password,
            csrf="checkrail_csrf",
        )
    assert answer.status_code == 302, answer.text
    assert read_cookies(page) == {"checkrail_csrf": CSRF}
    assert read_cookies(answer) == {
        "checkrail_csrf": CSRF,
        "checkrail_session": SESSION,
        "checkrail_known": SESSION,
    }
    # Browsers would not come back to plain HTTP, on which this is served.
    assert "strict-transport-security" not in answer.headers


def test_behind_https_cookies_are_bound_to_this_host_and_to_tls(
    database: None, tmp_path: Path
) -> None:
    """A name that begins with __Host- is taken by browsers only with all of this."""
    named = ("--role", "manager", "--project", "main", "--json")
    variables = {
        "CHECKRAIL_HOSTS": "checkrail.invalid",
        "CHECKRAIL_ORIGINS": "https://checkrail.invalid",
        "CHECKRAIL_PROXIES": "127.0.0.1",
    }
    headers = {
        "Host": "checkrail.invalid",
        "Origin": "https://checkrail.invalid",
        "Referer": "https://checkrail.invalid/sign-in/",
        "X-Forwarded-Proto": "https",
    }
    with (
        reserve_port() as port,
        up(tmp_path, port=port, variables=variables) as server,
    ):
        made = manage("user_add", "alice", *named, CHECKRAIL_DATA=str(tmp_path))
        assert made.returncode == 0, made.stderr
        password = json.loads(made.stdout)["password"]
        with httpx.Client(base_url=server.live.url, headers=headers) as client:
            page, answer = sign_in(
                client, name="alice", password=password, csrf="__Host-csrf"
            )
    assert answer.status_code == 302, answer.text
    assert read_cookies(page) == {"__Host-csrf": {**CSRF, "secure": True}}
    assert read_cookies(answer) == {
        "__Host-csrf": {**CSRF, "secure": True},
        "__Host-session": {**SESSION, "secure": True},
        "__Host-known": {**SESSION, "secure": True},
    }
    for each in (page, answer):
        told = each.headers["strict-transport-security"]
        assert told == "max-age=31536000; includeSubDomains"
        assert read_policy(each) == POLICY
