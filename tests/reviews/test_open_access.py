"""Who may no longer look is let go while it is open; who still may is not."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from accounts.auth import find_principal
from accounts.models import AgentKey, Membership, PersonalToken, Project, Role, User
from reviews.open_access import (
    NO_PROJECT,
    SIGNED_OUT,
    KeyAccess,
    SessionAccess,
    get_session_access,
    list_refused,
    list_refused_sessions,
)
from tests.support.builders import Person, make_person, make_project, make_robot


def sign_in(person: Person, project: Project) -> SessionAccess:
    later = timezone.now() + timedelta(hours=1)
    session = Session.objects.create(session_key=uuid4().hex, expire_date=later)
    found = get_session_access(
        user=person.user, slug=project.slug, session_key=session.session_key
    )
    assert found is not None
    return found


@pytest.fixture
def elsewhere(database: None) -> Project:
    return make_project()


def test_a_project_is_open_to_its_members_alone(
    bob: Person, project: Project, elsewhere: Project
) -> None:
    mine = sign_in(bob, project)
    assert (mine.user_id, mine.project_id) == (bob.user.pk, project.pk)
    for slug in (elsewhere.slug, "nowhere"):
        assert get_session_access(user=bob.user, slug=slug, session_key="k") is None


def test_only_the_sessions_that_have_ended_are_refused(
    project: Project, elsewhere: Project
) -> None:
    people = {
        name: make_person(name, role=Role.REVIEWER, project=project)
        for name in ("fine", "late", "gone", "left", "off", "changed")
    }
    access = {name: sign_in(person, project) for name, person in people.items()}
    # Somebody of another project, so that each project and person is asked about.
    other = make_person("other", role=Role.REVIEWER, project=elsewhere)
    access["other"] = sign_in(other, elsewhere)
    access["crossed"] = SessionAccess(
        user_id=other.user.pk,
        project_id=project.pk,
        session_key=access["other"].session_key,
        auth_hash=access["other"].auth_hash,
    )
    now = timezone.now()
    sessions = Session.objects
    sessions.filter(session_key=access["late"].session_key).update(expire_date=now)
    sessions.filter(session_key=access["gone"].session_key).delete()
    Membership.objects.filter(user=people["left"].user).delete()
    User.objects.filter(pk=people["off"].user.pk).update(is_active=False)
    User.objects.filter(pk=people["changed"].user.pk).update(password="!another")

    refused = list_refused_sessions(list(access.values()))

    names = {each: name for name, each in access.items()}
    assert {names[each]: code for each, code in refused.items()} == {
        "late": SIGNED_OUT,
        "gone": SIGNED_OUT,
        "left": NO_PROJECT,
        "off": SIGNED_OUT,
        "changed": SIGNED_OUT,
        "crossed": NO_PROJECT,
    }
    assert list_refused(list(access.values())) == set(refused)


def hold(secret: str, project: Project) -> KeyAccess:
    principal = find_principal(secret)
    assert principal is not None
    return KeyAccess(principal=principal, project_id=project.pk)


def test_only_the_keys_and_tokens_that_have_ended_are_refused(
    project: Project, elsewhere: Project
) -> None:
    fine, ended = (make_robot(name, project=project) for name in ("a", "b"))
    people = {
        name: make_person(name, role=Role.REVIEWER, project=project)
        for name in ("fine", "revoked", "off", "left")
    }
    access = {name: hold(each.token, project) for name, each in people.items()}
    access["another project"] = hold(people["fine"].token, elsewhere)
    access |= {"key": hold(fine.key, project), "ended key": hold(ended.key, project)}
    now = timezone.now()
    AgentKey.objects.filter(pk=ended.principal.key_id).update(revoked_at=now)
    PersonalToken.objects.filter(user=people["revoked"].user).update(revoked_at=now)
    User.objects.filter(pk=people["off"].user.pk).update(is_active=False)
    Membership.objects.filter(user=people["left"].user).delete()
    signed_in = sign_in(people["fine"], project)

    refused = list_refused([*access.values(), signed_in])

    names = {each: name for name, each in access.items()}
    assert {names[each] for each in refused if isinstance(each, KeyAccess)} == {
        *("ended key", "revoked", "off", "left", "another project"),
    }
    assert signed_in not in refused
    assert list_refused([]) == set()
    assert list_refused([access["key"]]) == set()
    assert list_refused([access["fine"]]) == set()
