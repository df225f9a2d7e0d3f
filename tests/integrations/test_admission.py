"""What frameworks have in common: asked twice is asked once, and run twice is not."""

from __future__ import annotations

from dataclasses import replace

import httpx
from checkrail import Checkrail, ReviewRef
from checkrail.flows.reviewer_words import encode_sorted
from checkrail.integrations.admission import admit
from checkrail.integrations.drivers import drive_now
from checkrail.integrations.outcomes import (
    Admitted,
    Outcome,
    Refused,
    Stored,
    WantedCall,
)
from checkrail.runs.run import Run
from django.utils import timezone

from accounts.models import Project
from reviews.models import Grant
from tests.integrations.people import Reviewer, approve
from tests.support.builders import make_policy

LOOK = WantedCall(
    id="call-1", tool="look_up", arguments_json=encode_sorted({"name": "alice"})
)


def outcome(run: Run, wanted: WantedCall) -> Outcome:
    (only,) = drive_now(run, admit(run, [wanted]))
    return only


def get_admitted(run: Run, wanted: WantedCall) -> Admitted:
    found = outcome(run, wanted)
    assert isinstance(found, Admitted)
    return found


def test_a_call_is_asked_about_and_made_once(checkrail: Checkrail) -> None:
    with checkrail.run("Look around") as run:
        first = get_admitted(run, LOOK)
        # The node starts again before its result was told: it goes on.
        assert get_admitted(run, LOOK) == first
        # It failed: to try again is another call, with a permission of its own.
        run.settle_call(first.call_id, ok=False, output="gone")
        second = get_admitted(run, LOOK)
        assert second.call_id != first.call_id
        # It succeeded: whatever starts again, it does not run again.
        run.settle_call(second.call_id, ok=True, output="here")
        made = outcome(run, LOOK)
        assert isinstance(made, Refused)
        assert "made before" in made.reason
        # The model wants the same once more, which is something else.
        assert get_admitted(run, replace(LOOK, id="call-2")).call_id != second.call_id


def test_an_approval_that_comes_too_late_for_the_grant(
    checkrail: Checkrail, reviewer: httpx.Client
) -> None:
    """The gates are asked again, the person is not."""
    person = Reviewer(reviewer, approve())

    def slowly(review: ReviewRef) -> None:
        # By the database's clock, which no test can move.
        Grant.objects.filter(run__code=run.id).update(expires_at=timezone.now())
        person(review)

    with checkrail.run("Mail", on_wait=slowly) as run:
        assert not get_admitted(run, replace(LOOK, person=True)).amended
    ledger = reviewer.get(f"/runs/{run.id}/ledger").text
    assert ledger.count('"call.judged"') == 2
    assert len(person.asked) == 1


def test_what_cannot_be_judged_and_what_is_known(
    checkrail: Checkrail, project: Project
) -> None:
    make_policy("known", project=project, tools={"idempotent": ["look_up"]})
    with checkrail.run("Look around", policy="known") as run:
        broken = outcome(run, replace(LOOK, arguments_json='{"name": "al'))
        unnamed = outcome(run, replace(LOOK, tool="look\nup"))
        assert isinstance(broken, Refused)
        assert "line 1" in broken.reason
        assert isinstance(unnamed, Refused)
        assert "cannot be judged" in unnamed.reason
        run.settle_call(get_admitted(run, LOOK).call_id, ok=True, output={"age": 30})
        known = outcome(run, replace(LOOK, id="call-2"))
        assert isinstance(known, Stored)
        assert known.text == '{"age": 30}'


def test_nobody_approves_what_they_are_not_shown(
    checkrail: Checkrail, reviewer: httpx.Client
) -> None:
    """The end of a long call would be cut off, and run all the same."""
    person = Reviewer(reviewer, approve())
    long = encode_sorted({"name": "a" * 20_000, "then": "something else"})
    with checkrail.run("Mail", on_wait=person) as run:
        refused = outcome(run, replace(LOOK, person=True, arguments_json=long))
    assert isinstance(refused, Refused)
    assert "cannot be shown" in refused.reason
    assert person.asked == []
