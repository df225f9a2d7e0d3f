"""A server that is stopped amid a delivery leaves it to the next one, at once."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.support.processes import Process, manage, up
from tests.support.waiting import until
from tests.webhooks.receivers import hang, receiving

pytestmark = pytest.mark.once("starts servers on SQLite, whatever the tests run on")

ALLOWED = {"CHECKRAIL_WEBHOOK_ALLOW": "127.0.0.0/8"}


def add_manager(data: Path) -> str:
    """Their token."""
    named = ("--role", "manager", "--project", "main", "--json")
    made = manage("user_add", "alice", *named, CHECKRAIL_DATA=str(data))
    assert made.returncode == 0, made.stderr
    token: str = json.loads(made.stdout)["token"]
    return token


def client(server: Process, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=server.live.api, headers=headers)


def test_what_was_on_its_way_is_sent_again_after_the_next_start(
    database: None, tmp_path: Path
) -> None:
    with receiving() as receiver:
        receiver.behaviours["/in"] = hang
        with up(tmp_path, variables=ALLOWED) as server:
            token = add_manager(tmp_path)
            with client(server, token) as manager:
                body = {"url": receiver.url("/in"), "types": ["run.finished"]}
                webhook = manager.post("/webhooks", json=body).json()["id"]
                assert manager.post(f"/webhooks/{webhook}/test").is_success
            until(lambda: len(receiver.arrived) == 1)
            assert "Stopped." in server.stop()

        receiver.behaviours.clear()
        with (
            up(tmp_path, variables=ALLOWED) as server,
            client(server, token) as manager,
        ):
            # A lease that was not given back would last far longer than this.
            until(lambda: len(receiver.arrived) == 2, seconds=60)
            path = f"/webhooks/{webhook}/deliveries"
            until(lambda: manager.get(path).json()["items"][0]["state"] == "delivered")
            (delivery,) = manager.get(path).json()["items"]
    # The stop did not wait for the receiver, so the first one failed in nobody's eyes.
    assert [each["number"] for each in delivery["attempts"]] == [2]
    first, again = receiver.arrived
    assert first.headers["webhook-id"] == again.headers["webhook-id"]
    assert first.body == again.body
