"""Comments answer each other and mention people, who see it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from accounts.models import Project
from console.live.updates import View, build_updates
from ledger.models import Entry
from ledger.verification.verify import verify_run_and_rows
from reviews.models import Comment, Mention, Review
from reviews.teamwork.comments import store_seen_mentions
from tests.support.browsing import fragment, open_browser, send
from tests.support.builders import Person, pause_at_once, start_run
from tests.support.problems import problem


@pytest.fixture
def review(agent: httpx.Client) -> str:
    return pause_at_once(agent, start_run(agent))


def comment(client: httpx.Client, review: str, text: str, **more: Any) -> str:
    body = {"text": text, **more}
    answer = client.post(f"/reviews/{review}/comments", json=body)
    assert answer.status_code == 201, answer.text
    last = client.get(f"/reviews/{review}").json()["history"][-1]
    code: str = last["comment"]
    return code


def test_answers_stand_in_the_thread_of_what_they_answer(
    reviewer: httpx.Client, manager: httpx.Client, bob: Person, review: str
) -> None:
    first = comment(reviewer, review, "Which table is right?")
    answer = comment(manager, review, "The one of 2025.", reply_to=first)
    comment(reviewer, review, "Thank you.", reply_to=answer)
    roots = Comment.objects.filter(review__code=review).values_list(
        "reply_to", flat=True
    )
    assert list(roots.order_by("pk")) == [None, UUID(first), UUID(first)]
    history = reviewer.get(f"/reviews/{review}").json()["history"]
    assert [item["reply_to"] for item in history[1:]] == [None, first, first]
    row = Review.objects.select_related("run__agent", "project").get(code=review)
    path = f"/p/{row.project.slug}/queue/{review}/"
    html = fragment(open_browser(bob.user), path).content.decode()
    assert html.index("Which table") < html.index('class="thread"')
    assert html.index('class="thread"') < html.index("The one of 2025")
    assert verify_run_and_rows(row.run).ok


def test_a_comment_of_another_review_is_not_answered(
    agent: httpx.Client, reviewer: httpx.Client, review: str
) -> None:
    other = comment(reviewer, pause_at_once(agent, start_run(agent)), "Here.")
    for wrong in (other, "x"):
        body = {"text": "There.", "reply_to": wrong}
        refused = reviewer.post(f"/reviews/{review}/comments", json=body)
        assert problem(refused, "invalid")["errors"][0]["loc"] == ["reply_to"]


def test_who_is_mentioned_is_told_and_marked_until_they_look(
    reviewer: httpx.Client,
    alice: Person,
    bob: Person,
    charlie: Person,
    project: Project,
    review: str,
) -> None:
    names = [person.user.username for person in (alice, bob, charlie)]
    comment(reviewer, review, "Look, " + " ".join(f"@{name}." for name in names))
    mention = Mention.objects.get(review__code=review)  # no outsider, not oneself
    assert mention.person == alice.user
    last = reviewer.get(f"/reviews/{review}").json()["history"][-1]
    assert last["mentions"] == [alice.user.username]
    since = Entry.objects.get(type="review.commented", payload__contains=review)
    view = View(project_id=project.pk, name="ledger")
    ((_, update),) = build_updates([(view, since.position - 1)]).items()
    assert f"{bob.user.username} mentioned you" in update.text
    page = f"/p/{project.slug}/queue/"
    client = open_browser(alice.user)
    assert f'data-mentioned="{alice.user.code}"' in client.get(page).content.decode()
    assert "mentions you" in client.get(f"{page}{review}/").content.decode()
    store_seen_mentions(user_id=bob.user.pk, review=UUID(review))
    assert "data-mentioned" in client.get(page).content.decode()
    store_seen_mentions(user_id=alice.user.pk, review=UUID(review))
    assert "data-mentioned" not in client.get(page).content.decode()


def test_secrets_are_not_kept_on_either_way(
    reviewer: httpx.Client, bob: Person, project: Project, review: str
) -> None:
    secret = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA3bC5"
    comment(reviewer, review, f"Use {secret}")
    path = f"/p/{project.slug}/queue/{review}/comment/"
    sent = send(open_browser(bob.user), path, text=f"Or {secret}")
    assert sent.status_code == 200
    texts = Comment.objects.filter(review__code=review).values_list("text", flat=True)
    assert len(texts) == 2
    assert not any(secret in text for text in texts)


def test_somebody_whose_name_begins_alike_is_not_mentioned(
    reviewer: httpx.Client, alice: Person, project: Project, review: str
) -> None:
    comment(reviewer, review, f"@{alice.user.username}2 knows this.")
    path = f"/p/{project.slug}/queue/{review}/"
    html = fragment(open_browser(alice.user), path).content.decode()
    assert "knows this." in html
    assert "mentions you" not in html
