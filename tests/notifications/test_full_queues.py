"""Managers hear by mail that the queue of their project fills: once, and while it stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project, User
from notifications import services
from notifications.full_queues import send_queue_mails
from notifications.models import QueueNotice, Recipient
from reviews.models import Review
from tests.notifications.mail_server import MailServer, receiving_mail
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person, make_policy

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)


@pytest.fixture
def server(
    settings: Any,
    project: Project,
    alice: Person,
    bob: Person,
    cleo: Person,
    dora: Person,
) -> Iterator[MailServer]:
    """Everybody of the project has an address: manager, reviewer, admin and auditor."""
    QueueNotice.objects.all().delete()
    User.objects.exclude(email="").update(email="")
    for person, name in (
        (alice, "alice"),
        (bob, "bob"),
        (cleo, "cleo"),
        (dora, "dora"),
    ):
        User.objects.filter(pk=person.user.pk).update(email=f"{name}@example.invalid")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.MAIL_FROM = "checkrail@example.invalid"
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    caps = {"project": 10, "critical_share": 0.1}
    make_policy("default", project=project, caps={"open_reviews": caps})
    with receiving_mail() as running:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


def fill(agent: httpx.Client, count: int) -> None:
    for number in range(count):
        ask_to_run(agent, f"rm -rf build-{number}")


def test_managers_hear_of_it_once_for_each_level(
    server: MailServer, project: Project, agent: httpx.Client, cleo: Person
) -> None:
    now = timezone.now()
    fill(agent, 7)
    assert send_queue_mails(at=now) == 0
    fill(agent, 1)
    services.store_mail_choice(user=cleo.user, mail_from="")  # never
    assert send_queue_mails(at=now) == 1
    (mail,) = server.mails
    assert mail["To"] == "alice@example.invalid"
    assert mail["Subject"] == f"Review queue of {project.name}: 80 % full"
    text = mail.get_content()
    assert "8 of 10 open reviews" in text
    assert "robo: 8" in text
    assert f"/p/{project.slug}/queue/" in text
    services.store_mail_choice(user=cleo.user, mail_from="critical")
    assert send_queue_mails(at=now + MINUTE) == 1
    assert server.mails[-1]["To"] == "cleo@example.invalid"
    assert send_queue_mails(at=now + 10 * MINUTE) == 0
    fill(agent, 1)  # the last place is kept for what is critical
    assert send_queue_mails(at=now + 11 * MINUTE) == 2
    assert server.mails[-1]["Subject"] == f"Review queue of {project.name}: full"
    assert "Only critical ones are still taken" in server.mails[-1].get_content()
    assert send_queue_mails(at=now + 20 * MINUTE) == 0
    assert send_queue_mails(at=now + DAY + 20 * MINUTE) == 2  # it is full still


def test_when_there_was_room_again_it_is_told_again(
    server: MailServer, project: Project, agent: httpx.Client
) -> None:
    now = timezone.now()
    fill(agent, 8)
    assert send_queue_mails(at=now) == 2
    oldest = Review.objects.filter(project=project).order_by("pk")[:1].get()
    one = Review.objects.filter(pk=oldest.pk)
    one.update(state="withdrawn", closed_at=now)
    assert send_queue_mails(at=now + MINUTE) == 0
    assert not QueueNotice.objects.filter(project=project).exists()
    fill(agent, 1)
    assert send_queue_mails(at=now + 2 * MINUTE) == 2


def test_whoever_may_not_sign_in_any_more_hears_of_nothing(
    server: MailServer, agent: httpx.Client, alice: Person
) -> None:
    fill(agent, 8)
    User.objects.filter(pk=alice.user.pk).update(is_active=False)
    assert send_queue_mails(at=timezone.now()) == 1
    assert [mail["To"] for mail in server.mails] == ["cleo@example.invalid"]


def test_telling_again_after_a_day_is_tried_every_five_minutes(
    server: MailServer, agent: httpx.Client
) -> None:
    now = timezone.now()
    fill(agent, 8)
    assert send_queue_mails(at=now) == 2
    server.refuses = True
    assert send_queue_mails(at=now + DAY) == 0
    server.refuses = False
    assert send_queue_mails(at=now + DAY + 4 * MINUTE) == 0
    assert send_queue_mails(at=now + DAY + 5 * MINUTE) == 2


def test_a_mail_that_was_not_taken_is_sent_again_and_told_of(
    server: MailServer, agent: httpx.Client, alice: Person
) -> None:
    now = timezone.now()
    fill(agent, 8)
    server.refuses = True
    assert send_queue_mails(at=now) == 0
    assert "451 try later" in Recipient.objects.get(user=alice.user).error
    server.refuses = False
    assert send_queue_mails(at=now + MINUTE) == 0
    assert send_queue_mails(at=now + 6 * MINUTE) == 2
    kept = Recipient.objects.get(user=alice.user)
    assert (kept.error, kept.told_at) == ("", now + 6 * MINUTE)
