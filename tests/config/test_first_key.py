"""The empty console says how an agent gets a key: word for word, on this very server."""

from __future__ import annotations

import re
import shlex
import subprocess
from html import unescape
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests.support.processes import environment, manage, up

pytestmark = pytest.mark.skipif(
    not settings.EMBEDDED, reason="it starts a server on SQLite of its own"
)
PASSWORD = "a password nobody guesses in time"


def sign_in(client: httpx.Client, password: str) -> None:
    """Past the change of a one-time password."""
    page = client.get("/")
    names = {"username": "alice", "password": password}
    page = post(client, page, names)
    new = dict.fromkeys(("new_password1", "new_password2"), PASSWORD)
    post(client, page, {"old_password": password, **new})


def post(
    client: httpx.Client, page: httpx.Response, fields: dict[str, str]
) -> httpx.Response:
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token, page.text
    fields = {**fields, "csrfmiddlewaretoken": token[1]}
    headers = {"Referer": str(page.url)}
    return client.post(str(page.url), data=fields, headers=headers)


def command_on(page: str) -> str:
    """What an empty page says to type."""
    commands = [unescape(text) for text in re.findall(r"<pre>(.*?)</pre>", page)]
    (command,) = [text for text in commands if "agent_key" in text]
    return command


def test_the_command_of_the_empty_pages_makes_a_key_for_this_server(
    database: None, tmp_path: Path
) -> None:
    data = tmp_path / "a folder"
    data.mkdir()
    with up(data) as server:
        added = manage(
            *("user_add", "alice", "--role", "reviewer", "--project", "main"),
            *("--data", str(data)),
        )
        assert added.returncode == 0, added.stderr
        password = re.findall(r"Password (\S+)", added.stdout)[0]
        url = server.live.url
        with httpx.Client(base_url=url, follow_redirects=True, timeout=30) as client:
            sign_in(client, password)
            shown = [client.get(f"/p/main/{name}/").text for name in ("queue", "runs")]
        (command,) = set(map(command_on, shown))
        assert all(f"export CHECKRAIL_URL={url}" in unescape(page) for page in shown)
        made = subprocess.run(
            shlex.split(command),
            cwd=settings.ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
            timeout=50,
        )
        assert made.returncode == 0, made.stderr
        assert "Owner alice" in made.stdout
        key = re.findall(r"crk_\S+", made.stdout)[0]
        headers = {"Authorization": f"Bearer {key}"}
        answer = httpx.get(f"{server.live.api}/runs", headers=headers)
        assert answer.status_code == 200
