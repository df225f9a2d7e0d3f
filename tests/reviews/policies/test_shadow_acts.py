"""A draft beside its policy: who runs, for how long, and what ends it."""

from __future__ import annotations

from concurrent.futures import wait
from datetime import UTC, datetime, timedelta
from threading import Event
from typing import Any

import pytest
from django.core.management import call_command

from accounts.models import Project, Role
from common.errors import Invalid, NotFound, Unchanged
from guidance.models import PolicyVersion
from guidance.selectors import find_active_id, get_policy
from ledger.models import Entry
from reviews.errors import ShadowRunning
from reviews.models import PolicyShadow
from reviews.policies.services import activate_version, create_version
from reviews.policies.shadow import running
from reviews.policies.shadow.running import (
    count_same,
    find_shadow,
    refresh_shadows,
)
from reviews.policies.shadow.selectors import find_latest, list_shadows
from reviews.policies.shadow.services import start_shadow, stop_shadow
from tests.support.builders import Person, make_person, make_project
from tests.support.threads import Threads
from tests.support.waiting import until

STRICT = {"continue": {"max_rework_ratio": 0.25}}
HOUR = timedelta(hours=1)
TICK = timedelta(microseconds=1)


def start(
    project: Project, manager: Person, number: int = 2, lasts: timedelta = HOUR
) -> PolicyShadow:
    return start_shadow(
        project_id=project.pk,
        name="default",
        number=number,
        lasts=lasts,
        by=manager.principal,
        note="Would it help?",
    )


def is_running(project: Project, at: datetime | None = None) -> bool:
    active = find_active_id(project_id=project.pk, name="default")
    assert active is not None
    found = find_shadow(
        project_id=project.pk, policy=get_policy(active), at=at or datetime.now(UTC)
    )
    return found is not None


def check_chain(project: Project) -> list[str]:
    """The types of the chain's newest entries; what is stored is what it says."""
    entries = Entry.objects.filter(project=project, type__startswith="policy.")
    call_command("ledger_verify", run=str(entries.latest("pk").run.code))
    return [*entries.order_by("-pk").values_list("type", flat=True)[:2]]


@pytest.fixture
def draft(project: Project, alice: Person) -> int:
    outcome = create_version(
        project_id=project.pk, name="default", document=STRICT, author=alice.principal
    )
    return outcome.version.version


def test_a_manager_starts_and_stops_it(
    project: Project, alice: Person, draft: int
) -> None:
    shadow = start(project, alice, draft)
    assert is_running(project)
    assert check_chain(project) == ["policy.shadow_started", "policy.stored"]
    with pytest.raises(ShadowRunning):
        start(project, alice, draft)
    stopped = stop_shadow(shadow, by=alice.principal, note="Seen enough")
    assert (stopped.end, is_running(project)) == ("stopped", False)
    assert check_chain(project) == ["policy.shadow_stopped", "policy.shadow_started"]
    with pytest.raises(Unchanged):
        stop_shadow(shadow, by=alice.principal)
    start(project, alice, draft)
    assert check_chain(project) == ["policy.shadow_started", "policy.shadow_stopped"]


def test_it_ends_by_itself_at_its_time(
    project: Project, alice: Person, draft: int
) -> None:
    first = start(project, alice, draft)
    assert is_running(project, first.ends_at - timedelta(seconds=1))
    assert not is_running(project, first.ends_at)
    past = datetime.now(UTC) - timedelta(seconds=1)
    PolicyShadow.objects.filter(pk=first.pk).update(ends_at=past)
    refresh_shadows()
    assert not is_running(project)
    second = start(project, alice, draft)
    first.refresh_from_db()
    assert (first.ended_at, first.end) == (past, "")
    assert second.ended_at is None


def test_it_ends_when_its_draft_is_published(
    project: Project, alice: Person, draft: int
) -> None:
    shadow = start(project, alice, draft)
    activate_version(
        project_id=project.pk, name="default", number=draft, by=alice.principal
    )
    shadow.refresh_from_db()
    assert (shadow.end, is_running(project)) == ("published", False)
    assert check_chain(project) == ["policy.activated", "policy.shadow_started"]


def test_it_goes_on_beside_another_version_that_comes_into_force(
    project: Project, alice: Person, draft: int
) -> None:
    shadow = start(project, alice, draft)
    create_version(project_id=project.pk, name="default", document={}, activate=True)
    shadow.refresh_from_db()
    assert (shadow.ended_at, is_running(project)) == (None, True)


@pytest.mark.parametrize(
    ("number", "lasts", "error"),
    [
        (1, HOUR, Unchanged),
        (3, HOUR, NotFound),
        (2, timedelta(0), Invalid),
        (2, timedelta(days=32), Invalid),
    ],
)
def test_what_makes_no_sense_is_refused(
    project: Project,
    alice: Person,
    draft: int,
    number: int,
    lasts: timedelta,
    error: type[Exception],
) -> None:
    with pytest.raises(error):
        start(project, alice, number, lasts)
    assert not is_running(project)


def test_a_policy_without_a_version_in_force_has_nothing_to_run_beside(
    project: Project, alice: Person
) -> None:
    create_version(project_id=project.pk, name="careful", document=STRICT)
    with pytest.raises(Invalid, match="nothing that a draft could run beside"):
        start_shadow(
            project_id=project.pk,
            name="careful",
            number=1,
            lasts=HOUR,
            by=alice.principal,
        )


def test_a_row_that_the_chain_does_not_tell_of_is_found(
    project: Project, alice: Person, draft: int
) -> None:
    shadow = start(project, alice, draft)
    rows = PolicyShadow.objects.filter(pk=shadow.pk)
    rows.update(ends_at=shadow.ends_at + HOUR)
    with pytest.raises(SystemExit):
        check_chain(project)
    rows.update(ends_at=shadow.ends_at)
    check_chain(project)


def test_each_policy_of_each_project_has_a_draft_of_its_own(
    project: Project, alice: Person
) -> None:
    elsewhere = make_project()
    boss = make_person("boss", role=Role.MANAGER, project=elsewhere)
    documents: list[dict[str, Any]] = [
        {"checks": {"max_resets": number}} for number in (1, 2, 3)
    ]
    for place in (project, elsewhere):
        for name in ("default", "own"):
            for number, document in enumerate(documents):
                create_version(
                    project_id=place.pk,
                    name=name,
                    document=document,
                    activate=number == 0,
                )

    def begin(place: Project, name: str, draft: int) -> PolicyShadow:
        """Run the version that is so many behind the one in force."""
        first = find_active_id(project_id=place.pk, name=name)
        assert first is not None
        return start_shadow(
            project_id=place.pk,
            name=name,
            number=get_policy(first).version + draft,
            lasts=HOUR,
            by=(alice if place == project else boss).principal,
        )

    def find(place: Project, name: str, at: datetime | None = None) -> str | None:
        active = find_active_id(project_id=place.pk, name=name)
        assert active is not None
        found = find_shadow(
            project_id=place.pk, policy=get_policy(active), at=at or datetime.now(UTC)
        )
        return None if found is None else found.code

    def get_ends() -> list[tuple[datetime | None, str]]:
        rows = PolicyShadow.objects.filter(project__in=[project, elsewhere])
        return list(rows.order_by("pk").values_list("ended_at", "end"))

    default, own = begin(project, "default", 1), begin(project, "own", 1)
    theirs = begin(elsewhere, "default", 1)
    for place, name, shadow in (
        (project, "default", default),
        (project, "own", own),
        (elsewhere, "default", theirs),
    ):
        assert find(place, name) == str(shadow.code)
        assert find(place, name, shadow.started_at) == str(shadow.code)
        assert find(place, name, shadow.started_at - TICK) is None
        assert find(place, name, shadow.ends_at - TICK) == str(shadow.code)
        assert find(place, name, shadow.ends_at) is None
    assert find(elsewhere, "own") is None
    assert get_ends() == [(None, "")] * 3

    stop_shadow(own, by=alice.principal)
    version = default.version.version
    activate_version(project_id=project.pk, name="default", number=version)
    assert [end for _, end in get_ends()] == ["published", "stopped", ""]
    assert find(elsewhere, "default") == str(theirs.code)
    assert find(project, "default") is None

    ends = get_ends()
    newer = begin(project, "own", 2)
    assert get_ends() == [*ends, (None, "")], "what was over is as it was"
    assert list_shadows(project, "own") == [newer, own]
    assert list_shadows(project, "default") == [default]
    assert list_shadows(elsewhere, "own") == []
    now = datetime.now(UTC)
    in_force = PolicyVersion.objects.get(project=project, name="own", version=1)
    for each, latest in ((own.version, newer), (in_force, newer)):
        counted = find_latest(each, now)
        assert counted is not None
        assert counted.shadow == latest
    over = find_latest(own.version, newer.ends_at)
    assert over is not None
    assert over.shadow == own, "nothing runs: the last one of this very version"
    assert find_latest(in_force, newer.ends_at) is None
    activate_version(project_id=project.pk, name="own", number=own.version.version)
    assert get_ends() == [*ends, (None, "")]


def test_what_is_over_by_its_time_cannot_be_stopped(
    project: Project, alice: Person, draft: int
) -> None:
    """Nothing has written down that it ended."""
    shadow = start(project, alice, draft)
    rows = PolicyShadow.objects.filter(pk=shadow.pk)
    rows.update(ends_at=datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(Unchanged):
        stop_shadow(shadow, by=alice.principal)
    activate_version(project_id=project.pk, name="default", number=draft)
    assert (rows.get().ended_at, rows.get().end) == (None, "")


def test_what_is_alike_is_counted_for_its_own_draft(
    project: Project, alice: Person, draft: int
) -> None:
    create_version(project_id=project.pk, name="own", document={}, activate=True)
    create_version(project_id=project.pk, name="own", document=STRICT)
    shadows = [
        start(project, alice, draft),
        start_shadow(
            project_id=project.pk,
            name="own",
            number=2,
            lasts=HOUR,
            by=alice.principal,
        ),
    ]
    for name, steps, calls in (("default", 2, 0), ("own", 0, 3), ("default", 1, 0)):
        active = find_active_id(project_id=project.pk, name=name)
        assert active is not None
        found = find_shadow(
            project_id=project.pk, policy=get_policy(active), at=datetime.now(UTC)
        )
        assert found is not None
        count_same(found, steps=steps, calls=calls)
    for _ in range(2):
        refresh_shadows()
        counts = [
            PolicyShadow.objects.values_list("same_steps", "same_calls").get(pk=each.pk)
            for each in shadows
        ]
        assert counts == [(3, 0), (0, 3)]


@pytest.mark.usefixtures("live")
@pytest.mark.once("the same in every process, whatever database tells it")
def test_what_another_process_starts_and_stops_is_seen_here_soon(
    project: Project, alice: Person, draft: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as elsewhere:
        for module in ("shadow.services", "services"):
            name = f"reviews.policies.{module}.refresh_shadows"
            elsewhere.setattr(name, lambda: None)
        shadow = start(project, alice, draft)
        until(lambda: is_running(project))
        stop_shadow(shadow, by=alice.principal)
        until(lambda: not is_running(project))


def test_a_slow_refresh_does_not_forget_what_was_started_meanwhile(
    project: Project, alice: Person, draft: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shadow = start(project, alice, draft)
    reading, go_on = Event(), Event()
    load = running._load

    def load_slowly(row: PolicyShadow) -> running.RunningShadow:
        if row.pk == shadow.pk:
            reading.set()
            go_on.wait(30)
        return load(row)

    monkeypatch.setattr(running, "_running", {})
    monkeypatch.setattr(running, "_load", load_slowly)
    with Threads(2) as pool:
        slow = pool.submit(refresh_shadows)
        assert reading.wait(30)
        PolicyShadow.objects.filter(pk=shadow.pk).update(ended_at=shadow.started_at)
        later = pool.submit(refresh_shadows)
        wait([later], timeout=1)
        go_on.set()
        slow.result(timeout=60)
        later.result(timeout=60)

    assert not is_running(project)
