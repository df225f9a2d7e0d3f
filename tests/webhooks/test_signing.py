"""Signatures as a receiver checks them: rotation, replay, and another server's key."""

from __future__ import annotations

import base64
from datetime import timedelta

import httpx
import pytest
import time_machine
from django.db import connection
from django.test.utils import override_settings
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from accounts.models import Project
from tests.support.problems import problem
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Receiver
from webhooks.delivery.worker import deliver
from webhooks.models import WebhookEndpoint

pytestmark = pytest.mark.once("signs bodies, not SQL")


def test_both_secrets_sign_for_a_day_after_a_rotation(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    rotated = manager.post(f"/webhooks/{hook.code}/rotate").json()
    assert rotated["secret"] != hook.secret
    assert rotated["previous_secret_until"] is not None
    tell(project)
    deliver()
    (both,) = receiver.arrived
    assert len(both.headers["webhook-signature"].split(" ")) == 2
    assert both.verified(hook.secret) == both.verified(rotated["secret"])
    WebhookEndpoint.objects.update(previous_until=timezone.now())
    tell(project)
    deliver()
    new = receiver.arrived[-1]
    new.verified(rotated["secret"])
    with pytest.raises(WebhookVerificationError):
        new.verified(hook.secret)


def test_m89_an_old_message_or_a_changed_one_is_refused(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    deliver()
    (arrived,) = receiver.arrived
    arrived.verified(hook.secret)
    with (
        time_machine.travel(timezone.now() + timedelta(minutes=6)),
        pytest.raises(WebhookVerificationError, match="too old"),
    ):
        arrived.verified(hook.secret)
    with pytest.raises(WebhookVerificationError):
        Webhook(hook.secret).verify(arrived.body + b" ", arrived.headers)
    other = arrived.headers | {"webhook-id": "evt_" + "0" * 32}
    with pytest.raises(WebhookVerificationError):
        Webhook(hook.secret).verify(arrived.body, other)


def test_secrets_are_random_and_stand_in_no_table(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hooks = [add(manager, receiver.url("/in")) for _ in range(2)]
    raw = [base64.b64decode(hook.secret.removeprefix("whsec_")) for hook in hooks]
    assert len(set(raw)) == 2
    assert all(len(each) == 32 for each in raw)
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM webhooks_webhookendpoint")
        stored = str(cursor.fetchall())
    for hook, secret in zip(hooks, raw, strict=True):
        assert hook.secret.removeprefix("whsec_") not in stored
        assert secret.hex() not in stored
        assert "secret" not in manager.get(f"/webhooks/{hook.code}").json()
    listed = manager.get("/webhooks").text
    assert "whsec_" not in listed


def test_with_another_server_key_nothing_is_signed_until_it_was_rotated(
    project: Project, manager: httpx.Client, receiver: Receiver
) -> None:
    hook = add(manager, receiver.url("/in"))
    tell(project)
    with override_settings(SECRET_KEY="another key, as long as it has to be " * 2):
        assert deliver() == 0
        assert receiver.arrived == []
        assert hook.row.status == "disabled"
        assert "SECRET_KEY" in hook.row.status_reason
        problem(manager.post(f"/webhooks/{hook.code}/enable"), "invalid")
        secret = manager.post(f"/webhooks/{hook.code}/rotate").json()["secret"]
        assert manager.post(f"/webhooks/{hook.code}/enable").status_code == 200
        tell(project)
        deliver()
        (arrived,) = receiver.arrived
        assert " " not in arrived.headers["webhook-signature"]
        arrived.verified(secret)
