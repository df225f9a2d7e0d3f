"""The pages of webhooks: what they say, what their buttons do, who may see them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Project
from console.webhooks import views
from tests.support.browsing import open_browser
from tests.support.builders import Person
from tests.webhooks.hooks import Hook, add, tell
from tests.webhooks.receivers import Receiver, answer
from webhooks.delivery.worker import deliver
from webhooks.models import Delivery, WebhookEndpoint

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def build_path(project: Project, *parts: object) -> str:
    return "/".join([f"/p/{project.slug}/webhooks", *map(str, parts), ""])


def words(page: Any) -> str:
    text = re.sub(
        r"<(style|script|dialog).*?</\1>", " ", page.content.decode(), flags=re.S
    )
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def test_one_is_added_by_a_plain_form_and_its_secret_shown_once(
    project: Project, alice: Person, receiver: Receiver
) -> None:
    client = open_browser(alice.user)
    empty = client.get(build_path(project))
    assert "No webhooks yet" in words(empty)
    assert 'title="Webhooks"' in empty.content.decode()
    form = {"url": "http://10.0.0.1/x", "types": ["run.stopped"], "description": "p"}
    refused = client.post(build_path(project, "add"), form)
    assert refused.status_code == 422
    assert "10.0.0.1 is not a public address" in words(refused)
    assert 'value="http://10.0.0.1/x"' in refused.content.decode()
    assert 'value="p"' in refused.content.decode()
    assert re.search(r'id="url-error"[^>]*>10\.0\.0\.1 is', refused.content.decode())
    none = client.post(build_path(project, "add"), {"url": "https://x.invalid/"})
    assert 'id="types-error"' in none.content.decode()
    form["url"] = receiver.url("/in?token=x")
    added = client.post(build_path(project, "add"), form)
    code = WebhookEndpoint.objects.get().code
    assert (added.status_code, added["Location"]) == (302, build_path(project, code))
    shown = client.get(added["Location"])
    assert "no-store" in shown["Cache-Control"]
    secret = re.search(r'value="(whsec_[^"]+)"', shown.content.decode())
    assert secret is not None
    again = client.get(added["Location"])
    assert "whsec_" not in again.content.decode()
    client.post(build_path(project, code, "test"))
    assert "Queued" in words(client.get(added["Location"]))
    deliver()
    page = words(client.get(added["Location"]))
    assert "webhook.test Answered 200 in" in page
    assert "Healthy" in page
    receiver.arrived[0].verified(unescape(secret[1]))
    assert "1 event" in words(client.get(build_path(project)))


def test_buttons_do_what_they_say(
    project: Project, alice: Person, manager: httpx.Client, receiver: Receiver
) -> None:
    receiver.behaviours["/in"] = answer(500, b"<b>broken</b>")
    hook = add(manager, receiver.url("/in"))
    client = open_browser(alice.user)
    tell(project, 3)
    deliver()
    page = client.get(build_path(project, hook.code))
    assert "Failing for" in words(page)
    assert "Answered 500; again in" in words(page)
    assert "&lt;b&gt;broken&lt;/b&gt;" in page.content.decode()
    assert "every 1s" in page.content.decode()
    Delivery.objects.update(state="dead", ended_at=timezone.now(), leased_by=None)
    dead = client.get(build_path(project, hook.code), {"show": "dead"})
    assert (
        words(dead).count("Dead letter Send again") + words(dead).count("Send again")
        >= 3
    )
    assert "Resend all 3 dead letters" in words(dead)
    assert "every 1s" not in dead.content.decode()
    receiver.behaviours.clear()
    first = hook.deliveries[0]
    client.post(build_path(project, hook.code, "resend", first.code))
    assert hook.states == ["queued", "dead", "dead"]
    client.post(build_path(project, hook.code, "resend"))
    deliver()
    assert hook.states == ["delivered"] * 3
    client.post(build_path(project, hook.code, "disable"))
    off = words(client.get(build_path(project, hook.code)))
    assert "Disabled for" in off
    assert f"Disabled by {alice.user.username}." in off
    refused = client.post(build_path(project, hook.code, "test"))
    assert refused.status_code == 422
    assert "enable it first" in words(refused)
    client.post(build_path(project, hook.code, "enable"))
    assert hook.row.status == "active"
    rotated = client.post(
        build_path(project, hook.code, "rotate"),
        follow=True,
        headers={"Accept-Encoding": "gzip"},
    )
    # The address stands on the page: beside it a size would tell of the secret.
    assert "Content-Encoding" not in rotated.headers
    assert "no-transform" in rotated.headers["Cache-Control"]
    assert hook.secret not in rotated.content.decode()
    assert "whsec_" in rotated.content.decode()
    assert "the old secret also signs for another 23 h 59 m" in words(rotated)
    assert client.post(build_path(project, hook.code, "explode")).status_code == 404
    client.post(build_path(project, hook.code, "delete"))
    assert not WebhookEndpoint.objects.exists()


def test_the_pages_are_for_managers_of_the_project(
    project: Project,
    alice: Person,
    bob: Person,
    charlie: Person,
    manager: httpx.Client,
    receiver: Receiver,
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    (delivery,) = hook.deliveries
    posts = ["test", "rotate", "disable", "delete", f"resend/{delivery.code}"]
    theirs = charlie.user.membership_set.get().project
    for person, where in ((bob, project), (charlie, project), (charlie, theirs)):
        client = open_browser(person.user)
        if where == project:
            assert client.get(build_path(where)).status_code == 404
        assert client.get(build_path(where, hook.code)).status_code == 404
        for action in posts:
            address = build_path(where, hook.code, action)
            assert client.post(address).status_code == 404
    home = open_browser(bob.user).get(f"/p/{project.slug}/queue/").content.decode()
    assert 'title="Webhooks"' not in home
    assert hook.row.status == "active"
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice.user)
    assert client.post(build_path(project, hook.code, "delete")).status_code == 403
    anonymous = Client().get(build_path(project))
    assert anonymous.status_code == 302


def test_long_lists_lead_on_and_cost_the_same(
    project: Project,
    alice: Person,
    manager: httpx.Client,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(views, "PAGE", 3)
    hook = add(manager, receiver.url("/in"))
    client = open_browser(alice.user)
    prices = []
    for _ in range(2):
        tell(project, 4)
        deliver()
        with CaptureQueriesContext(connection) as queries:
            page = client.get(build_path(project, hook.code)).content.decode()
        prices.append(len(queries))
    assert prices[0] == prices[1] <= 13
    assert _numbers(page) == ["8", "7", "6"]
    older = re.search(r'href="\?(before=\d+)"', page)
    assert older is not None
    following = client.get(
        f"{build_path(project, hook.code)}?{older[1]}&show=delivered"
    )
    assert _numbers(following.content.decode()) == ["5", "4", "3"]
    for odd in ("x", "٣", "9" * 40, "-1"):
        assert (
            client.get(build_path(project, hook.code), {"before": odd}).status_code
            == 200
        )


def _numbers(page: str) -> list[str]:
    return re.findall(r'<span class="no">#(\d+)</span>', page)


def test_what_a_receiver_says_stays_text(
    project: Project, alice: Person, manager: httpx.Client, receiver: Receiver
) -> None:
    said = "</code><script>x</script> \u202e sk_live_" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    receiver.behaviours["/in"] = answer(400, said.encode() * 400)
    hook: Hook = add(manager, receiver.url("/in"))
    tell(project)
    deliver()
    kept = hook.deliveries[0].tries.get().reply
    assert len(kept) == 500
    page = open_browser(alice.user).get(build_path(project, hook.code)).content.decode()
    assert "<script>x" not in page
    assert "\u202e" not in page
    assert "a1B2c3D4" not in page
