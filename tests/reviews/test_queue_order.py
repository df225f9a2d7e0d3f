"""The queue of one person: the same order, pages and counts whoever asks and however."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from accounts.models import Project
from common.ids import uuid7
from reviews.models import Kind, Review, ReviewState
from reviews.queue import order
from reviews.queue.order import Place, Queue, count_reviews, list_reviews, parse_place
from tests.support.builders import Person, make_project, pause_at_once, start_run
from tests.support.run_states import AT

CODE = "019a1b2c-3d4e-7f60-8abc-def012345678"


@pytest.fixture
def rows(
    agent: httpx.Client, project: Project, alice: Person, bob: Person
) -> list[Review]:
    """Every kind and claim, some opened at the same moment; beside them what is closed
    and what is another project's."""
    first = Review.objects.get(code=pause_at_once(agent, start_run(agent)))
    Review.objects.filter(pk=first.pk).update(state=ReviewState.RULED, closed_at=AT)
    elsewhere = make_project()

    def add(**more: object) -> Review:
        row = Review.objects.get(pk=first.pk)
        row.pk, row.code, row.state, row.closed_at = None, uuid7(), "open", None
        for name, value in more.items():
            setattr(row, name, value)
        row.save(force_insert=True)
        return row

    made = [
        add(kind=kind, assignee=claimer, opened_at=AT - timedelta(minutes=minutes))
        for minutes in (3, 1, 3)
        for kind in (Kind.PAUSE, Kind.CONFIRMATION, Kind.LOOP_ACTION, Kind.QUESTION)
        for claimer in (None, alice.user, bob.user)
    ]
    add(project=elsewhere)
    add(state=ReviewState.EXPIRED, closed_at=AT)
    return made


def list_codes(reviews: list[Review]) -> list[str]:
    return [str(review.code) for review in reviews]


def walk(queue: Queue) -> list[Review]:
    """Page by page from the beginning."""
    page = queue.list_first()
    assert not page.more_before
    found = page.reviews
    while page.more_after:
        page = queue.list_after(queue.get_place(found[-1]))
        assert page.more_before
        found += page.reviews
    return found


@pytest.mark.parametrize("show", order.SHOWS)
def test_pages_places_and_counts_agree(
    rows: list[Review],
    project: Project,
    alice: Person,
    bob: Person,
    show: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order, "PAGE", 5)
    tally = count_reviews(project_id=project.pk)
    assert tally.total == len(rows)
    for person in (alice, bob):
        queue = Queue(project_id=project.pk, viewer_id=person.user.pk, show=show)
        wanted = {
            "all": rows,
            "mine": [row for row in rows if row.assignee_id == person.user.pk],
            "unclaimed": [row for row in rows if row.assignee_id is None],
        }[show]
        ordered = list_codes(sorted(wanted, key=queue.get_place))

        found = walk(queue)

        assert list_codes(found) == ordered
        viewer = str(person.user.code)
        assert tally.count_shown(show=show, viewer=viewer) == len(ordered)
        groups = [queue.get_place(row).group for row in found]
        counted = tally.count_groups(show=show, viewer=viewer)
        assert [groups.count(number) for number in range(3)] == list(counted.values())
        for at in (0, 1, len(found) - 1):
            place = queue.get_place(found[at])
            assert queue.count_before(place) == at
        last = queue.get_place(found[-1])
        before = queue.list_before(last)
        assert list_codes(before.reviews) == ordered[-6:-1]
        assert before.more_after
        assert before.more_before is (len(ordered) > 6)


def test_what_can_destroy_comes_first_and_what_others_have_last(
    rows: list[Review], project: Project, alice: Person
) -> None:
    queue = Queue(project_id=project.pk, viewer_id=alice.user.pk)
    found = walk(queue)
    kinds = [row.kind in (Kind.CONFIRMATION, Kind.LOOP_ACTION) for row in found]
    others = [row.assignee_id not in (None, alice.user.pk) for row in found]
    assert kinds[:12] == [True] * 12
    assert kinds[12:24] == [False] * 12
    assert others == [False] * 24 + [True] * 12
    for part in (found[:12], found[12:24], found[24:]):
        opened = [row.opened_at for row in part]
        assert opened == sorted(opened)


def test_the_part_around_a_review_has_it_in_its_middle(
    rows: list[Review],
    project: Project,
    alice: Person,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    queue = Queue(project_id=project.pk, viewer_id=alice.user.pk)
    found = walk(queue)
    monkeypatch.setattr(order, "PAGE", 6)

    page = queue.list_around(found[20])
    assert list_codes(page.reviews) == list_codes(found[17:24])
    assert (page.more_before, page.more_after) == (True, True)
    end = queue.list_around(found[-1])
    assert list_codes(end.reviews) == list_codes(found[-4:])
    assert (end.more_before, end.more_after) == (True, False)
    closed = Review.objects.filter(project=project, state="expired").get()
    for none in (None, found[2], closed):
        start = queue.list_around(none)
        assert list_codes(start.reviews) == list_codes(found[:6])
        assert (start.more_before, start.more_after) == (False, True)


def test_reviews_are_loaded_by_their_codes_within_the_project(
    rows: list[Review], project: Project
) -> None:
    foreign = Review.objects.exclude(project=project).latest("pk")
    closed = Review.objects.filter(project=project, state="expired").get()
    asked = list_codes([rows[3], closed, foreign])
    found = list_reviews(project_id=project.pk, codes=asked)
    assert {row.pk for row in found} == {rows[3].pk, closed.pk}


def test_a_place_has_one_spelling() -> None:
    for text in (f"0.0.{CODE}", f"2.{'9' * 16}.{CODE}", f"1.1700000000000000.{CODE}"):
        place = parse_place(text)
        assert place is not None
        assert str(place) == text
    for wrong in (
        "",
        f"3.1.{CODE}",
        f"01.1.{CODE}",
        f".1.{CODE}",
        f"0..{CODE}",
        f"0.-1.{CODE}",
        f"0.1²3.{CODE}",
        f"0.{'9' * 17}.{CODE}",
        "0.1.x",
        "0.1.",
        f"0.1.{CODE.upper()}",
    ):
        assert parse_place(wrong) is None, wrong
    assert Place(0, 9, "b") < Place(1, 1, "a") < Place(1, 2, "a") < Place(1, 2, "b")
