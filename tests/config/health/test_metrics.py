"""GET /metrics: what Prometheus reads, and who else may."""

from __future__ import annotations

import re
from collections import Counter
from datetime import timedelta

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import RequestFactory
from django.utils import timezone

from config.health import figures
from config.health.exposition import Family, render_families
from config.health.metrics import _may_read
from config.models import Heartbeat
from config.server.answers import sent_answers
from reviews.models import Review
from tests.config.health.test_health import Away
from tests.support.builders import Robot, pause_run, start_run, step
from tests.support.live import Live

TOKEN = "a-token-of-monitoring-alone"
SAMPLE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)")


def read(live: Live) -> dict[str, float]:
    """Every sample, without the label that names the process."""
    answer = httpx.get(f"{live.url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, float] = {}
    for line in answer.text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        assert match is not None, line
        labels = re.sub(r'process="[^"]*",?', "", match["labels"] or "")
        found[match["name"] + labels] = float(match["value"])
    return found


def test_every_family_has_a_help_a_type_and_one_place(live: Live) -> None:
    text = httpx.get(f"{live.url}/metrics").text
    named = re.findall(r"^# TYPE (\w+) (counter|gauge)$", text, re.MULTILINE)
    helped = re.findall(r"^# HELP (\w+) \S.*\.$", text, re.MULTILINE)
    assert [name for name, _ in named] == helped
    assert len({*helped}) == len(helped)
    for name, kind in named:
        assert (kind == "counter") == name.endswith("_total")
        assert name.startswith("checkrail_")


def test_labels_are_escaped() -> None:
    family = Family("x", "Help.", [({"a": 'b"\\\nc', "d": ""}, 1.5), ({}, 2.0)])
    assert render_families([family]).splitlines() == [
        "# HELP x Help.",
        "# TYPE x gauge",
        'x{a="b\\"\\\\\\nc",d=""} 1.5',
        "x 2.0",
    ]


def test_answers_are_counted_by_status_whichever_way_they_go(
    live: Live, agent: httpx.Client
) -> None:
    run = start_run(agent)
    before = Counter(sent_answers)
    # The head of the later ones is known: they are answered at once.
    steps = [agent.post(f"/runs/{run}/steps", json=step(n)) for n in range(1, 5)]
    again = agent.post(f"/runs/{run}/steps", json=step(9))
    others = [httpx.get(f"{live.url}/{path}") for path in ("nowhere", "healthz")]
    sent = Counter(each.status_code for each in (*steps, again, *others))
    assert sent.keys() >= {200, 404, again.status_code}
    # The look itself is counted after it was written.
    after = read(live)
    told = {
        status: after[f'checkrail_http_answers_totalstatus="{status}"'] - before[status]
        for status in sent
    }
    assert told == sent


def test_what_waits_for_people_is_counted(live: Live, agent: httpx.Client) -> None:
    before = read(live)
    run = start_run(agent)
    review = pause_run(agent, run)["review"]["id"]
    found = Review.objects.get(code=review)
    severity = f'severity="{found.severity}"'
    opened = f"checkrail_reviews_open{severity}"
    paused = 'checkrail_runsstatus="paused"'
    after = read(live)
    assert after[opened] == before[opened] + 1
    assert after[paused] == before[paused] + 1
    long_ago = timezone.now() - timedelta(days=900)
    Review.objects.filter(pk=found.pk).update(opened_at=long_ago)
    oldest = read(live)[f"checkrail_review_oldest_seconds{severity}"]
    assert oldest >= 900 * 86_400


def test_signs_of_life_have_an_age(live: Live) -> None:
    at = timezone.now() - timedelta(hours=2)
    Heartbeat.objects.update_or_create(name=Heartbeat.BEAT, defaults={"at": at})
    Heartbeat.objects.update_or_create(
        name=Heartbeat.WORKER, defaults={"at": timezone.now()}
    )
    Heartbeat.objects.update_or_create(
        name=Heartbeat.PROBE, defaults={"at": timezone.now()}
    )
    told = read(live)
    assert told['checkrail_heartbeat_age_secondspart="beat"'] >= 7200
    assert told['checkrail_part_okpart="beat"'] == 0
    assert told['checkrail_part_okpart="database"'] == 1
    assert 'checkrail_heartbeat_age_secondspart="probe"' not in told
    assert told["checkrail_ready"] == 1


def test_without_the_database_the_rest_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Heartbeat, "objects", Away(OperationalError("gone")))
        told = read(live)
    assert told["checkrail_ready"] == 0
    assert told['checkrail_part_okpart="database"'] == 0
    assert told["checkrail_process_resident_bytes"] > 1_000_000
    assert not [name for name in told if name.startswith("checkrail_reviews_open")]
    assert read(live)["checkrail_ready"] == 1


@pytest.mark.parametrize("path", ["/metrics", "/api/v1/metrics"])
def test_who_may_read_them(
    live: Live, path: str, robo: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(**headers: str) -> int:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.get(live.url + path, headers=named).status_code

    assert ask() == 200, "This machine."
    assert ask(Authorization=f"Bearer {TOKEN}") == 401, "No token is set."
    monkeypatch.setattr(settings, "METRICS_TOKEN", TOKEN)
    assert ask() == 200
    assert ask(Authorization=f"Bearer {TOKEN}") == 200
    assert ask(Authorization=f"Bearer {TOKEN}", X_Forwarded_For="203.0.113.7") == 200
    for wrong in (f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer", f"Bearer {robo.key}"):
        assert ask(Authorization=wrong) == 401, wrong
    for name in (
        "X-Forwarded-For",
        "X-Forwarded-Host",
        "X-Real-IP",
        "Forwarded",
        "Via",
    ):
        assert ask(**{name: "127.0.0.1"}) == 401, name


def test_a_name_or_an_address_of_elsewhere_is_refused(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy that says nothing of itself passes on the name that the client used."""
    monkeypatch.setattr(settings, "ALLOWED_HOSTS", ["*"])
    port = live.url.rpartition(":")[2]

    def ask(host: str) -> int:
        return httpx.get(f"{live.url}/metrics", headers={"Host": host}).status_code

    for host in (
        f"localhost:{port}",
        f"127.0.0.1:{port}",
        "127.9.9.9",
        f"[::1]:{port}",
    ):
        assert ask(host) == 200, host
    for host in ("checkrail.example", "192.0.2.1", "localhost.example"):
        assert ask(host) == 401, host


def test_another_machine_is_refused() -> None:
    for address, may in (("127.0.0.1", True), ("::1", True), ("192.0.2.7", False)):
        request = RequestFactory().get("/metrics", REMOTE_ADDR=address)
        request.META["HTTP_HOST"] = "localhost"
        assert _may_read(request) is may, address


def test_figures_of_the_database_are_the_same_for_all(database: None) -> None:
    assert all(
        "process" not in labels
        for family in figures._read_stored()
        for labels, _ in family.samples
    )
