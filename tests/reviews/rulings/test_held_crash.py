"""The server is killed while a ruling is held: the review stays open, and says so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from django.db import connection

from tests.gateway.calls.calls import command
from tests.support.builders import start_run
from tests.support.processes import manage, up

CAST = """
import json
from accounts.models import Role, User
from accounts.services import add_person, issue_agent_key
alice = add_person(name="alice", role=Role.REVIEWER, project_slug="main")
User.objects.update(must_change_password=False)
_, key = issue_agent_key(name="robo", project_slug="main")
print(json.dumps([alice.password, alice.token, key]))
"""
DROP = """
from datetime import timedelta
from django.db.models import F
from reviews.models import Grant, HeldRuling
from reviews.rulings.held import drop_unsent_rulings
assert HeldRuling.objects.update(due_at=F("due_at") - timedelta(minutes=1)) == 1
assert drop_unsent_rulings() == 1
assert not Grant.objects.exists()
"""
HTMX = {"HX-Request": "true"}


def sign_in(browser: httpx.Client, password: str) -> None:
    page = browser.get("/sign-in/").text
    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)[0]
    browser.post(
        "/sign-in/",
        data={
            "username": "alice",
            "password": password,
            "csrfmiddlewaretoken": token,
        },
    ).raise_for_status()


def test_a_crash_while_it_is_held_leaves_the_review_open(
    database: None, tmp_path: Path
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("The embedded profile is on SQLite.")
    data = {"CHECKRAIL_DATA": str(tmp_path)}
    with up(tmp_path) as server:
        made = manage("shell", "--no-imports", "-c", CAST, **data)
        password, token, key = json.loads(made.stdout)
        agent = httpx.Client(
            base_url=server.live.api, headers={"Authorization": f"Bearer {key}"}
        )
        browser = httpx.Client(
            base_url=server.live.url,
            headers={"Origin": server.live.url},
            follow_redirects=True,
        )
        with agent, browser:
            run = start_run(agent)
            review = command(agent, run, "rm -rf build-1")["review"]["id"]
            sign_in(browser, password)
            path = f"/p/main/queue/{review}/"
            page = browser.get(path).text
            fields = re.findall(
                r'name="(version|content_digest|csrfmiddlewaretoken)" value="([^"]+)"',
                page[page.index('id="dock"') :],
            )
            held = browser.post(
                f"{path}rule/",
                data={**dict(fields), "action": "approve"},
                headers=HTMX,
            )
            assert "Take back" in held.text, held.text[:300]
            server.kill()

    assert manage("shell", "--no-imports", "-c", DROP, **data).returncode == 0
    with up(tmp_path) as again:
        person = {"Authorization": f"Bearer {token}"}
        shown = httpx.get(f"{again.live.api}/reviews/{review}", headers=person).json()
        told = httpx.get(
            f"{again.live.api}/runs/{run}/decision",
            headers={"Authorization": f"Bearer {key}"},
        ).json()
    assert shown["state"] == "open"
    assert [item["type"] for item in shown["history"]][-1] == "review.unsent"
    assert (told["state"], told["ruling"]) == ("open", None)
