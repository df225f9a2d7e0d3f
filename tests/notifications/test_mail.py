"""Mail about reviews: to whom, when, folded, and through a real mail server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from django.utils import timezone

from accounts.models import Membership, Project, Role, User
from notifications import services
from notifications.models import Notice, Recipient
from reviews.models import Review
from tests.notifications.mail_server import MailServer, receiving_mail
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person, make_project, pause_run, start_run
from tests.support.people import rule

MINUTE = timedelta(minutes=1)


@pytest.fixture
def server(settings: Any, project: Project, bob: Person) -> Iterator[MailServer]:
    """Bob has an address; people of other tests have none any more."""
    User.objects.exclude(email="").update(email="")
    User.objects.filter(pk=bob.user.pk).update(email="bob@example.invalid")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.MAIL_FROM = "checkrail@example.invalid"
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    with receiving_mail() as running:
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", running.port
        yield running


def read(server: MailServer) -> list[tuple[str, str]]:
    return [
        (str(mail["Subject"]), mail.get_content().replace("\r\n", "\n"))
        for mail in server.mails
    ]


def test_many_at_once_are_one_mail_with_a_link_to_each(
    server: MailServer, project: Project, agent: httpx.Client
) -> None:
    calls = [ask_to_run(agent, f"rm -rf build-{number}") for number in range(3)]
    pause_run(agent, start_run(agent))  # medium: bob does not want to hear of it
    now = timezone.now()
    assert services.send_mails(at=now) == 0  # somebody may be at the desk
    assert services.send_mails(at=now + 2 * MINUTE) == 1
    ((subject, text),) = read(server)
    assert subject == "3 reviews wait for you: 3 high"
    assert str(server.mails[0]["To"]) == "bob@example.invalid"
    for call in calls:
        assert f"/p/{project.slug}/queue/{call}/\n" in text
    assert "/rule" not in text
    assert "approve" not in text.lower()
    # Once, and not again.
    assert services.send_mails(at=now + 20 * MINUTE) == 0
    # What comes soon after a mail waits for the next one.
    ask_to_run(agent, "rm -rf later")
    Review.objects.filter(project=project).update(opened_at=now - MINUTE)
    later = now + 21 * MINUTE
    assert services.send_mails(at=later) == 1
    ask_to_run(agent, "rm -rf last")
    Review.objects.filter(project=project).update(opened_at=now - MINUTE)
    assert services.send_mails(at=later + 2 * MINUTE) == 0
    assert services.send_mails(at=later + 6 * MINUTE) == 1


def test_what_is_critical_does_not_wait(
    server: MailServer, agent: httpx.Client
) -> None:
    review = ask_to_run(agent, "rm -rf build")
    Review.objects.filter(code=review).update(severity="critical")
    assert services.send_mails() == 1
    ((subject, _),) = read(server)
    assert subject.startswith("Critical: rm -rf build")


def test_before_it_ends_it_is_told_once_more(
    server: MailServer, agent: httpx.Client
) -> None:
    review = ask_to_run(agent, "rm -rf build")
    due = Review.objects.get(code=review).due_at
    assert services.send_mails(at=due - timedelta(hours=2)) == 1
    assert services.send_mails(at=due - timedelta(hours=1)) == 0
    assert services.send_mails(at=due - 20 * MINUTE) == 1
    assert services.send_mails(at=due - 10 * MINUTE) == 0
    assert read(server)[1][0].startswith("Ends soon: rm -rf build")


def test_a_mail_that_was_not_taken_is_sent_again(
    server: MailServer, agent: httpx.Client
) -> None:
    ask_to_run(agent, "rm -rf build")
    server.refuses = True
    later = timezone.now() + 2 * MINUTE
    assert services.send_mails(at=later) == 0
    assert not Notice.objects.filter(user__email="bob@example.invalid").exists()
    server.refuses = False
    assert services.send_mails(at=later + 6 * MINUTE) == 1
    assert len(server.mails) == 1


def test_who_is_not_told(
    server: MailServer,
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
) -> None:
    review = ask_to_run(agent, "rm -rf build")
    later = timezone.now() + 2 * MINUTE
    found = Review.objects.filter(code=review)
    found.update(assignee=alice.user)  # somebody else has claimed it
    assert services.send_mails(at=later) == 0
    found.update(assignee=None)
    services.store_mail_choice(user=bob.user, mail_from="")
    assert services.send_mails(at=later) == 0
    services.store_mail_choice(user=bob.user, mail_from="low")
    membership = Membership.objects.filter(user=bob.user, project=project)
    membership.update(role=Role.AUDITOR)
    assert services.send_mails(at=later) == 0
    membership.update(role=Role.REVIEWER)
    assert services.send_mails(at=later) == 1


def test_what_has_ended_or_is_over_is_told_of_no_more(
    server: MailServer, agent: httpx.Client, reviewer: httpx.Client
) -> None:
    ruled = ask_to_run(agent, "rm -rf build")
    late = ask_to_run(agent, "rm -rf dist")
    over = Review.objects.get(code=late).due_at
    rule(reviewer, ruled, "approve")
    assert services.send_mails(at=timezone.now() + 2 * MINUTE) == 1
    ((subject, _),) = read(server)
    assert subject.startswith("High: rm -rf dist")
    # Nobody has ended it yet, but its time is over: that it ends soon is no news.
    assert services.send_mails(at=over) == 0
    assert services.send_mails(at=over - timedelta(microseconds=1)) == 1


def test_who_rules_elsewhere_and_looks_on_here_is_told_of_elsewhere_alone(
    server: MailServer, project: Project, bob: Person, agent: httpx.Client
) -> None:
    elsewhere = make_project()
    Membership.objects.create(user=bob.user, project=elsewhere, role=Role.REVIEWER)
    Membership.objects.filter(user=bob.user, project=project).update(role=Role.AUDITOR)
    here = ask_to_run(agent, "rm -rf build")
    later = timezone.now() + 2 * MINUTE
    assert services.send_mails(at=later) == 0
    Review.objects.filter(code=here).update(project=elsewhere)
    assert services.send_mails(at=later) == 1


def test_of_two_workers_one_sends(server: MailServer, bob: Person) -> None:
    """Both have read when the person was written to last, the first time and later."""
    now = timezone.now()
    for at, tried_at in ((now, None), (now + MINUTE, now)):
        first, second = (User.objects.get(pk=bob.user.pk) for _ in range(2))
        assert [hasattr(each, "recipient") for each in (first, second)] == [
            tried_at is not None
        ] * 2
        assert services._take_turn(first, tried_at=tried_at, at=at)
        assert not services._take_turn(second, tried_at=tried_at, at=at)
        assert Recipient.objects.get(user=bob.user).tried_at == at


def test_what_is_critical_takes_what_is_not_along(
    server: MailServer, agent: httpx.Client
) -> None:
    """Soon after a mail nothing else would be sent; in one mail with it all is told of."""
    ask_to_run(agent, "rm -rf first")
    now = timezone.now()
    assert services.send_mails(at=now + 2 * MINUTE) == 1
    ask_to_run(agent, "rm -rf second")
    urgent = ask_to_run(agent, "rm -rf third")
    Review.objects.filter(code=urgent).update(severity="critical")
    assert services.send_mails(at=now + 4 * MINUTE) == 1
    subject, text = read(server)[1]
    assert "2 reviews" in subject
    assert "rm -rf second" in text


def test_who_has_claimed_it_is_still_told_and_in_an_own_zone(
    server: MailServer, agent: httpx.Client, bob: Person, alice: Person
) -> None:
    mine, hers = ask_to_run(agent, "rm -rf mine"), ask_to_run(agent, "rm -rf hers")
    due = timezone.now() + 4 * MINUTE
    Review.objects.filter(code__in=[mine, hers]).update(due_at=due)
    Review.objects.filter(code=mine).update(assignee=bob.user)
    Review.objects.filter(code=hers).update(assignee=alice.user)
    User.objects.filter(pk=bob.user.pk).update(time_zone="Asia/Tokyo")
    assert services.send_mails(at=due - MINUTE) == 1
    ((_, text),) = read(server)
    assert mine in text
    assert hers not in text
    assert f"{due.astimezone(ZoneInfo('Asia/Tokyo')):%A %H:%M %Z}" in text
