"""Lists and acts of pages where other rows stand beside: other webhooks, runs, projects."""

from __future__ import annotations

import re
from urllib.parse import urlencode
from uuid import uuid4

import httpx
import pytest
from django.http import QueryDict
from django.utils import timezone

from accounts.models import Project
from console.permissions import exemptions
from console.runs.list.address import read_state
from console.runs.query.parse import build_filter
from ledger.models import Run
from ledger.run_list.paging import list_page
from ledger.run_list.scope import Scope
from tests.support.browsing import open_browser, send
from tests.support.builders import Person, pause_at_once, start_run, step
from tests.webhooks.conftest import nothing_left, receiver
from tests.webhooks.hooks import add, tell
from tests.webhooks.receivers import Receiver
from webhooks.models import Delivery, DeliveryState

__all__ = ["nothing_left", "receiver"]

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")


def test_a_delivery_is_resent_by_its_own_webhook_alone(
    project: Project, alice: Person, manager: httpx.Client, receiver: Receiver
) -> None:
    mine, other = (add(manager, receiver.url(f"/{name}")) for name in ("a", "b"))
    tell(project)
    every = Delivery.objects.filter(endpoint__code__in=(mine.code, other.code))
    every.update(state=DeliveryState.DEAD, ended_at=timezone.now())
    (ours,), (theirs,) = mine.deliveries, other.deliveries
    client = open_browser(alice.user)
    path = f"/p/{project.slug}/webhooks/{mine.code}"
    for code in (theirs.code, uuid4()):
        assert client.post(f"{path}/resend/{code}/").status_code == 404
    assert client.post(f"{path}/no-such-act/").status_code == 404
    assert (mine.states, other.states) == (["dead"], ["dead"])
    assert client.post(f"{path}/resend/{ours.code}/").status_code == 302
    assert (mine.states, other.states) == (["queued"], ["dead"])

    page = client.get(f"{path}/").content.decode()
    assert str(ours.code) in page
    assert str(theirs.code) not in page
    assert str(ours.code) not in client.get(f"{path}/?show=dead").content.decode()
    assert str(ours.code) in client.get(f"{path}/?show=waiting").content.decode()
    assert str(ours.code) in client.get(f"{path}/?show=nonsense").content.decode()
    before = client.get(f"{path}/?before={ours.number}").content.decode()
    assert str(ours.code) not in before
    odd = client.get(f"{path}/?before={'9' * 16}").content.decode()
    assert str(ours.code) in odd, "a number that is none is passed over"


def test_runs_are_found_by_status_words_and_code(
    project: Project, agent: httpx.Client
) -> None:
    running = start_run(agent, task="Rename a module")
    paused = start_run(agent, task="Delete a table")
    pause_at_once(agent, paused)
    stopped = start_run(agent, task="Spend it all")
    agent.post(f"/runs/{stopped}/steps", json=step(1, coherence=0.1))
    ended = start_run(agent, task="Done soon")
    agent.post(f"/runs/{ended}/finish", json={"outcome": "completed"})

    def found(show: str = "", search: str = "") -> list[str]:
        given = QueryDict(urlencode({"show": show, "q": search}))
        wanted = build_filter(read_state(given).query, now=timezone.now())
        scope = Scope(project_ids=(project.pk,))
        page = list_page(scope=scope, wanted=wanted, limit=9, related=())
        return [str(run.code) for run in page.runs]

    assert found() == [ended, stopped, paused, running], "the newest first"
    assert found(show="running") == [running]
    assert found(show="paused") == [paused]
    assert found(show="stopped") == [stopped]
    assert found(show="finished") == [ended]
    assert found(show="nonsense") == found()
    assert found(search="a MODULE") == [running]
    assert found(search=paused) == [paused]
    assert found(search=f"r-{paused[-6:]}") == found(search=paused[-6:]) == [paused]
    assert found(show="running", search=paused) == []
    name = Run.objects.select_related("agent").get(code=running).agent.name
    assert found(search=name) == found()


def test_an_abort_with_too_long_a_reason_aborts_nothing(
    project: Project, bob: Person, agent: httpx.Client
) -> None:
    run = start_run(agent)
    path = f"/p/{project.slug}/runs/{run}/abort/"
    client = open_browser(bob.user)
    refused = send(client, path, reason="x" * 100_000)
    assert refused.status_code == 422
    assert "too long" in refused.content.decode()
    assert refused["Content-Type"] == "text/plain; charset=utf-8"
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    assert send(client, path, reason="enough").status_code == 204
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"


def test_values_that_are_no_secrets_are_listed_up_to_a_limit(
    project: Project,
    alice: Person,
    agent: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = start_run(agent)
    client = open_browser(alice.user)
    for number in range(3):
        token = "gh" + "p_" + f"a1B{number}" * 9
        body = {"kind": "command", "tool": "Bash", "command": f"echo {token}"}
        call = agent.post(f"/runs/{run}/tool-calls", json=body).json()
        path = f"/p/{project.slug}/calls/{call['id']}/exempt/"
        page = client.get(path).content.decode()
        fingerprint = re.search(r'name="fingerprint"[^>]*value="([^"]+)"', page)
        assert fingerprint is not None, page[:2000]
        made = client.post(
            path, {"fingerprint": fingerprint[1], "reason": f"no secret {number}"}
        )
        assert made.status_code == 302, made.content.decode()[:500]
    listed = client.get(f"/p/{project.slug}/permissions/").content.decode()
    places = [listed.index(f"no secret {number}") for number in range(3)]
    assert places == sorted(places, reverse=True), "the newest first"
    monkeypatch.setattr(exemptions, "LIMIT", 2)
    shown = client.get(f"/p/{project.slug}/permissions/").content.decode()
    assert "no secret 0" not in shown
    assert "2+" in shown
    monkeypatch.setattr(exemptions, "LIMIT", 3)
    assert "3+" not in client.get(f"/p/{project.slug}/permissions/").content.decode()
