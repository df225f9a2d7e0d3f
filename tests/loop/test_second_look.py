"""What a look has found is judged again under the lock: somebody may have been faster.

A look's own query leaves out what is done already, so it cannot show this: each command
is performed by hand, as the slower of two would perform it.
"""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from accounts.models import Project
from guidance.services import get_policy_in_force
from ledger.models import Entry
from ledger.writer import get_writer
from ledger.writer.system_runs import RunStarted
from loop.control.clock import SendHeartbeat, run_cycle, send_heartbeat
from loop.cycle.decide import DecideSignals
from loop.cycle.sense import sense
from loop.errors import AlreadyDecided, NotDue, SignalKnown
from loop.inbox.incidents import ResolveIncident
from loop.inbox.ledger_events import ReadLedgerEvents, read_ledger_events
from loop.inbox.notes import EndNote, ReturnNotes, return_unconfirmed_notes
from loop.inbox.triggers import AcceptSignal, NewSignal
from loop.learning.learn import AddLesson
from loop.models import (
    Decision,
    Incident,
    Note,
    NoteState,
    ProjectLoop,
    Recommendation,
    Signal,
)
from loop.runs import EndLoopRun, StartLoopRun, ensure_run
from tests.loop.history import ALERT
from tests.loop.inbox.test_work import note
from tests.loop.saying import FAILED, loop_policy, outcome, send, sound
from tests.support.builders import Person, start_run

pytestmark = pytest.mark.once("judges signals, not SQL")


@pytest.fixture
def run(project: Project) -> str:
    """The run that keeps the loop's decisions."""
    loop_policy(project, rules=[ALERT])
    return ensure_run(project.pk)


def count_entries(run: str) -> int:
    return Entry.objects.filter(run__code=run).count()


def test_two_clocks_that_tick_at_once_beat_once(project: Project, run: str) -> None:
    section = get_policy_in_force(project_id=project.pk, name="default").policy.loop
    get_writer().perform_now(SendHeartbeat(run_code=run, section=section))
    before = count_entries(run)

    with pytest.raises(NotDue):
        get_writer().perform_now(SendHeartbeat(run_code=run, section=section))

    assert count_entries(run) == before
    assert Signal.objects.filter(project=project, type="heartbeat").count() == 1


@pytest.mark.parametrize("column", ["heartbeat_at", "looked_at"])
def test_a_clock_waits_for_its_own_rhythm_and_for_others(
    project: Project, run: str, column: str
) -> None:
    """Each of the two is enough to let the beat wait."""
    section = get_policy_in_force(project_id=project.pk, name="default").policy.loop
    loops = ProjectLoop.objects.filter(pk=project.pk)
    loops.update(heartbeat_at=None, looked_at=None)
    loops.update(**{column: timezone.now()})

    with pytest.raises(NotDue):
        get_writer().perform_now(SendHeartbeat(run_code=run, section=section))
    assert send_heartbeat(project.pk) is False

    loops.update(**{column: timezone.now() - timedelta(days=1)})
    assert send_heartbeat(project.pk) is True


def test_only_claims_that_ran_out_are_returned(
    agent: httpx.Client, project: Project
) -> None:
    late, fresh, waiting = (note(agent, text)["id"] for text in ("a", "b", "c"))
    run_cycle(project.pk)
    now = timezone.now()
    claimed = {"state": NoteState.CLAIMED, "claims": 1}
    rows = Note.objects.filter(project=project)
    rows.filter(code=late).update(claimed_until=now - timedelta(seconds=1), **claimed)
    rows.filter(code=fresh).update(claimed_until=now + timedelta(hours=1), **claimed)
    rows.filter(code=waiting).update(state=NoteState.QUEUED, claimed_until=None)

    assert return_unconfirmed_notes(project.pk) == 1

    states = {str(row.code): row.state for row in rows}
    assert states == {late: "queued", fresh: "claimed", waiting: "queued"}
    run = ensure_run(project.pk)
    before = count_entries(run)
    with pytest.raises(NotDue):
        get_writer().perform_now(ReturnNotes(run_code=run))
    assert count_entries(run) == before


def test_a_note_is_confirmed_once(
    agent: httpx.Client, project: Project, bob: Person
) -> None:
    code = note(agent)["id"]
    Note.objects.filter(code=code).update(state=NoteState.CLAIMED, claims=1)
    row = Note.objects.get(code=code)
    run = ensure_run(project.pk)

    def confirm() -> None:
        get_writer().perform_now(
            EndNote(
                run_code=run,
                note=row,
                actor=bob.principal.actor,
                state=NoteState.DONE,
                reason="",
            )
        )

    confirm()
    before = count_entries(run)
    with pytest.raises(NotDue):
        confirm()
    assert count_entries(run) == before


def test_an_incident_is_resolved_once(
    agent: httpx.Client, project: Project, run: str, bob: Person, alice: Person
) -> None:
    outcome(agent, project, "system/note", kind="slow", queue="mail")
    incident = Incident.objects.get(project=project)
    first, second = (
        ResolveIncident(
            run_code=run, incident=incident, person=person.principal, note=""
        )
        for person in (bob, alice)
    )
    get_writer().perform_now(first)
    before = count_entries(run)

    with pytest.raises(NotDue):
        get_writer().perform_now(second)

    assert count_entries(run) == before


def test_a_lesson_is_told_once(project: Project, run: str) -> None:
    def lesson() -> AddLesson:
        return AddLesson(
            run_code=run,
            actor="system:system-loop",
            title="Read the guide",
            detail="",
            change={"advice": "Read it."},
            draft={"advice": "Read it.", "problem": None},
            key="guide",
            evidence={},
            rests=timedelta(days=7),
        )

    get_writer().perform_now(lesson())
    rows = Recommendation.objects.filter(project=project)
    before = count_entries(run)
    with pytest.raises(NotDue):
        get_writer().perform_now(lesson())
    # Also what was answered rests for some days.
    rows.update(state="dismissed", ended_at=timezone.now() - timedelta(days=6))
    with pytest.raises(NotDue):
        get_writer().perform_now(lesson())
    assert count_entries(run) == before

    rows.update(ended_at=timezone.now() - timedelta(days=8))
    get_writer().perform_now(lesson())
    assert rows.count() == 2


def test_what_happened_is_heard_once(
    agent: httpx.Client, project: Project, run: str
) -> None:
    section = get_policy_in_force(project_id=project.pk, name="default").policy.loop
    done = start_run(agent)
    agent.post(f"/runs/{done}/finish", json={"outcome": "completed"})
    assert read_ledger_events(project.pk) == 1
    before = count_entries(run)

    with pytest.raises(NotDue):
        get_writer().perform_now(ReadLedgerEvents(run_code=run, section=section))

    assert count_entries(run) == before
    assert Signal.objects.filter(project=project, source="own").count() == 1


def test_a_trigger_is_decided_once(
    agent: httpx.Client, project: Project, run: str
) -> None:
    send(agent)
    run_cycle(project.pk)
    signal = Signal.objects.get(project=project)
    policy = get_policy_in_force(project_id=project.pk, name="default")
    before = count_entries(run)

    with pytest.raises(AlreadyDecided):
        get_writer().perform_now(
            DecideSignals(
                run_code=run,
                signal_ids=[signal.pk],
                policy=policy,
                snapshot=sense(project.pk),
            )
        )

    assert count_entries(run) == before
    assert Decision.objects.filter(project=project).count() == 1


def test_a_known_signal_is_not_stored_again(project: Project, run: str) -> None:
    def accept() -> None:
        signal = NewSignal(
            type=FAILED, source="signal", actor="agent:x", dedupe_key="run-7"
        )
        get_writer().perform_now(AcceptSignal(run_code=run, signal=signal))

    accept()
    before = count_entries(run)
    with pytest.raises(SignalKnown):
        accept()
    assert count_entries(run) == before


def test_a_run_of_the_loop_that_is_not_long_goes_on(project: Project, run: str) -> None:
    before = count_entries(run)

    with pytest.raises(NotDue):
        get_writer().perform_now(EndLoopRun(run_code=run))

    assert count_entries(run) == before
    sound(project)


def test_two_that_start_the_loop_start_one_run(project: Project, run: str) -> None:
    policy = get_policy_in_force(project_id=project.pk, name="default")

    with pytest.raises(RunStarted):
        get_writer().perform_now(
            StartLoopRun(owner_id=project.pk, policy=policy, parent=None)
        )

    assert ensure_run(project.pk) == run
