"""The queue of one person: the same order, pages and counts whoever asks and however."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import httpx
import pytest

from accounts.models import Project
from common.ids import uuid7
from reviews.models import Kind, Review, ReviewState, Severity
from reviews.queue import order
from reviews.queue.order import Queue, list_reviews
from reviews.queue.places import SORTS, Place, parse_place
from reviews.queue.subjects import count_urgency
from reviews.queue.tally import SHOWS, count_reviews
from tests.support.builders import Person, make_project, pause_at_once, start_run
from tests.support.run_states import AT

CODE = "019a1b2c-3d4e-7f60-8abc-def012345678"


@pytest.fixture
def rows(
    agent: httpx.Client, project: Project, alice: Person, bob: Person
) -> list[Review]:
    """Every severity and claim, some opened and due at the same moment; beside them what
    is closed and what is another project's."""
    first = Review.objects.get(code=pause_at_once(agent, start_run(agent)))
    Review.objects.filter(pk=first.pk).update(state=ReviewState.RULED, closed_at=AT)
    elsewhere = make_project()

    def add(**more: object) -> Review:
        row = Review.objects.get(pk=first.pk)
        row.pk, row.code, row.state, row.closed_at = None, uuid7(), "open", None
        for name, value in more.items():
            setattr(row, name, value)
        row.urgency = count_urgency(
            severity=row.severity, reversibility=row.reversibility
        )
        row.save(force_insert=True)
        return row

    made = [
        add(
            kind=kind,
            severity=severity.value,
            reversibility=undone,
            assignee=claimer,
            opened_at=AT - timedelta(minutes=minutes),
            answer_by=AT + timedelta(minutes=7 * minutes % 5 - 1),
        )
        for (minutes, kind), (severity, undone), claimer in product(
            ((3, Kind.PAUSE), (1, Kind.CONFIRMATION), (3, Kind.QUESTION)),
            (
                (Severity.LOW, "irreversible"),
                (Severity.HIGH, "reversible here"),
                (Severity.HIGH, "irreversible"),
                (Severity.CRITICAL, "read-only"),
            ),
            (None, alice.user, bob.user),
        )
    ]
    add(project=elsewhere)
    add(state=ReviewState.EXPIRED, closed_at=AT)
    add(snoozed_until=AT, snoozed_for="time")
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


@pytest.mark.parametrize(
    ("show", "sort"),
    [*product(SHOWS[:-1], ["urgency"]), ("all", "age"), ("mine", "due")],
)
def test_pages_places_and_counts_agree(
    rows: list[Review],
    project: Project,
    alice: Person,
    bob: Person,
    show: str,
    sort: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(order, "PAGE", 5)
    tally = count_reviews(project_id=project.pk, at=AT)
    assert tally.total == len(rows)
    for person in (alice, bob):
        queue = Queue(
            project_id=project.pk,
            viewer_id=person.user.pk,
            show=show,
            sort=sort,
            at=AT,
        )
        wanted = {
            "all": rows,
            "mine": [row for row in rows if row.assignee_id == person.user.pk],
            "unclaimed": [row for row in rows if row.assignee_id is None],
            "overdue": [row for row in rows if row.answer_by <= AT],
        }[show]
        ordered = list_codes(sorted(wanted, key=queue.get_place))

        found = walk(queue)

        assert list_codes(found) == ordered
        viewer = str(person.user.code)
        assert tally.count_shown(show=show, viewer=viewer) == len(ordered)
        counted = tally.count_severities(show=show, viewer=viewer)
        severities = [row.severity for row in found]
        assert [severities.count(each) for each in Severity.values] == list(counted)
        for at in (0, 1, len(found) - 1):
            place = queue.get_place(found[at])
            assert queue.count_before(place) == at
        last = queue.get_place(found[-1])
        before = queue.list_before(last)
        assert list_codes(before.reviews) == ordered[-6:-1]
        assert before.more_after
        assert before.more_before is (len(ordered) > 6)


def test_the_risky_come_first_whoever_looks(
    rows: list[Review], project: Project, alice: Person, bob: Person
) -> None:
    """The most severe, of those what cannot be undone, of those what is due first."""
    found = walk(Queue(project_id=project.pk, viewer_id=alice.user.pk))
    keys = [
        (
            Severity.values.index(row.severity),
            row.reversibility != "irreversible",
            row.answer_by,
        )
        for row in found
    ]
    assert keys == sorted(keys)
    theirs = walk(Queue(project_id=project.pk, viewer_id=bob.user.pk))
    assert list_codes(theirs) == list_codes(found)
    for sort, columns in SORTS.items():
        queue = Queue(project_id=project.pk, viewer_id=alice.user.pk, sort=sort)
        times = [getattr(row, columns[-1]) for row in walk(queue)]
        assert (times == sorted(times)) is (sort != "urgency")


def test_the_next_that_will_be_late_is_told(
    rows: list[Review], project: Project
) -> None:
    tally = count_reviews(project_id=project.pk, at=AT)
    coming = min(row.answer_by for row in rows if row.answer_by > AT)
    assert tally.next_late_at == int(coming.timestamp()) * 1_000_000
    later = count_reviews(project_id=project.pk, at=AT + timedelta(days=1))
    assert (sum(later.late), later.next_late_at) == (len(rows), 0)


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
    for text in (f"0.0.{CODE}", f"15.{'9' * 16}.{CODE}", f"1.1700000000000000.{CODE}"):
        place = parse_place(text)
        assert place is not None
        assert str(place) == text
    for wrong in (
        "",
        f"16.1.{CODE}",
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
