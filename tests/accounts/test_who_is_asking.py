"""From a secret to the one whose it is, and to what they may see: theirs, nobody else's."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.test import RequestFactory
from django.utils import timezone
from ninja.errors import HttpError

from accounts import auth, secrets
from accounts.api_auth import (
    AGENT,
    AGENT_SESSION,
    PARSED_REQUEST,
    ParsedRequest,
    PersonBearer,
    SignedIn,
    get_project,
)
from accounts.auth import (
    find_principal,
    get_cached_principal,
    is_secret_valid,
    is_signed_in,
    parse_bearer_secret,
    require_agent,
    require_person,
)
from accounts.management.secret_rows import render_revoked
from accounts.models import AgentKey, Membership, PersonalToken, Project, Role, User
from accounts.selectors import list_agents, list_managers, list_projects, require_role
from accounts.services import (
    add_person,
    ensure_project,
    issue_agent_key,
    issue_token,
    revoke_secrets,
)
from common.errors import Forbidden, Invalid, NotFound, Unauthenticated
from tests.support.browsing import open_browser, open_client
from tests.support.builders import (
    Person,
    Robot,
    make_person,
    make_project,
    make_robot,
    unique,
)
from tests.support.rows import each_row


@each_row(
    "header",
    [
        "bearer crk_x",
        "Basic crk_x",
        "Bearer",
        "Bearer x",
        "Bearer  crk_x",
        "crk_x",
        "Bearer crx_x",
        "",
    ],
)
def test_a_header_in_another_form_is_refused(header: str) -> None:
    with pytest.raises(Unauthenticated):
        parse_bearer_secret(header)


def test_what_is_in_the_header_is_the_secret() -> None:
    assert parse_bearer_secret(None) is None
    for secret in ("crk_x", "crt_x"):
        assert parse_bearer_secret(f"Bearer {secret}") == secret


def test_a_secret_that_only_begins_right_is_nobodys(robo: Robot, bob: Person) -> None:
    """The beginning is public: it is listed, and stands in the database."""
    for secret in (robo.key, bob.token):
        begun = secrets.get_prefix(secret)
        for guess in (begun, begun + "A" * (len(secret) - len(begun)), secret + "A"):
            with pytest.raises(Unauthenticated):
                find_principal(guess)


def test_of_secrets_that_begin_alike_each_is_its_own(
    project: Project, robo: Robot, bob: Person, alice: Person
) -> None:
    other = make_robot("other", project=project)
    lookup = secrets.get_prefix(robo.key)
    AgentKey.objects.filter(agent__project=project).update(lookup=lookup)
    people = PersonalToken.objects.filter(user__in=[bob.user, alice.user])
    people.update(lookup=secrets.get_prefix(bob.token))
    assert require_agent(find_principal(robo.key)).agent_name == "robo"
    # The other's secrets begin otherwise here: by their digests alone they are told apart.
    rest = secrets.hash_secret(other.key), secrets.hash_secret(alice.token)
    agent = auth._find_agent(lookup, rest[0])
    person = auth._find_person(secrets.get_prefix(bob.token), rest[1])
    assert agent is not None
    assert person is not None
    assert agent.agent_name == "other"
    assert person.user_id == alice.user.pk
    assert require_person(find_principal(bob.token)).user_id == bob.user.pk


def test_who_is_asking_is_said_in_words(robo: Robot, bob: Person) -> None:
    with pytest.raises(Forbidden, match="needs an agent key"):
        require_agent(find_principal(bob.token))
    with pytest.raises(Forbidden, match="use a personal token"):
        require_person(find_principal(robo.key))
    for require in (require_agent, require_person):
        with pytest.raises(Forbidden):
            require(None)


def test_what_is_remembered_is_bounded_and_lasts_as_long_as_is_said(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "_known", {})
    monkeypatch.setattr(auth, "_KNOWN_LIMIT", 3)
    for number in range(7):
        find_principal(make_robot(f"robo-{number}", project=project).key)
        assert len(auth._known) <= 3
    assert auth.CACHE_SECONDS < 5.0  # with time left to ask the database
    assert "within five seconds" in render_revoked(2, "key")


def test_a_secret_is_valid_by_itself_whatever_others_there_are(
    project: Project, bob: Person
) -> None:
    key, secret = issue_agent_key(name="robo", project_slug=project.slug)
    issue_agent_key(name="robo", project_slug=project.slug)
    agent, person = find_principal(secret), find_principal(bob.token)
    assert is_secret_valid(agent)
    assert is_secret_valid(person)
    assert not is_secret_valid(bob.principal)  # of a browser: it has no secret

    revoke_secrets(AgentKey.objects.filter(pk=key.pk))
    tokens = PersonalToken.objects.filter(user=bob.user)
    issue_token(user=bob.user)
    revoke_secrets(tokens.filter(digest=secrets.hash_secret(bob.token)))

    assert not is_secret_valid(agent)
    assert not is_secret_valid(person)
    second = require_person(find_principal(issue_token(user=bob.user)))
    User.objects.filter(pk=bob.user.pk).update(is_active=False)
    assert not is_secret_valid(second)
    with pytest.raises(Unauthenticated):
        find_principal(issue_token(user=bob.user))


def test_a_secret_is_forgotten_when_its_end_is_stored_and_not_before(
    robo: Robot,
) -> None:
    """Whoever asks meanwhile would have it read again, and remembered as good."""
    find_principal(robo.key)
    keys = AgentKey.objects.filter(digest=secrets.hash_secret(robo.key))
    try:
        with transaction.atomic():
            assert revoke_secrets(keys) == 1
            raise LookupError
    except LookupError:
        pass
    assert get_cached_principal(robo.key) is not None
    with transaction.atomic():
        revoke_secrets(keys)
        assert get_cached_principal(robo.key) is not None
    assert get_cached_principal(robo.key) is None
    ended = keys.get().revoked_at
    assert revoke_secrets(keys) == 0  # when it ended first is what is kept
    assert keys.get().revoked_at == ended


def test_a_session_is_signed_in_only_with_somebody_in_it(bob: Person) -> None:
    session = import_module(settings.SESSION_ENGINE).SessionStore()
    session["seen"] = 1
    session.save()
    assert not is_signed_in(session.session_key)
    assert not is_signed_in("nobody-has-this-key")
    browser = open_browser(bob.user)
    key = browser.cookies[settings.SESSION_COOKIE_NAME].value
    assert is_signed_in(key)
    browser.post("/sign-out/")
    assert not is_signed_in(key)


def test_a_project_is_found_for_those_in_it(
    project: Project, robo: Robot, bob: Person, charlie: Person
) -> None:
    agent, person = find_principal(robo.key), bob.principal
    theirs = list_projects(user_id=charlie.user.pk).get()
    for principal in (agent, person):
        for slug in (None, project.slug):
            assert get_project(principal=principal, slug=slug) == project
        for slug in (theirs.slug, "nowhere", ""):
            with pytest.raises(NotFound):
                get_project(principal=principal, slug=slug)
    second = make_project()
    Membership.objects.create(project=second, user=bob.user, role=Role.REVIEWER)
    assert get_project(principal=person, slug=second.slug) == second
    with pytest.raises(Invalid, match="say which one") as several:
        get_project(principal=person, slug=None)
    slugs = sorted([project.slug, second.slug])
    (told,) = several.value.errors
    assert told == {"loc": ["project"], "message": f"one of {slugs}"}
    Membership.objects.filter(user=bob.user).delete()
    with pytest.raises(Forbidden, match="not a member of any project"):
        get_project(principal=person, slug=None)


def test_each_role_includes_those_before_it() -> None:
    included = {
        role.value: [other.value for other in Role if role.includes(other)]
        for role in Role
    }
    assert included == {
        "auditor": ["auditor"],
        "reviewer": ["auditor", "reviewer"],
        "manager": ["auditor", "reviewer", "manager"],
        "admin": ["auditor", "reviewer", "manager", "admin"],
    }
    assert [role.value for role in Role if role.sees_all] == [
        *("auditor", "manager", "admin"),
    ]


def test_managers_are_the_active_ones_of_this_project(
    project: Project, alice: Person, bob: Person, charlie: Person
) -> None:
    admin = make_person("aaron", role=Role.ADMIN, project=project)
    gone = make_person("gone", role=Role.MANAGER, project=project)
    User.objects.filter(pk=gone.user.pk).update(is_active=False)
    assert list_managers(project_id=project.pk) == [admin.user, alice.user]
    require_role(user_id=admin.user.pk, project_id=project.pk, role=Role.MANAGER)
    with pytest.raises(Forbidden, match="needs the role manager; yours is reviewer"):
        require_role(user_id=bob.user.pk, project_id=project.pk, role=Role.MANAGER)
    with pytest.raises(NotFound):
        require_role(user_id=charlie.user.pk, project_id=project.pk, role=Role.REVIEWER)


def test_agents_are_those_of_this_project(project: Project, robo: Robot) -> None:
    make_robot("alone", project=make_project())
    make_robot("aide", project=project)
    issue_agent_key(name="robo", project_slug=project.slug)
    names = [agent.name for agent in list_agents(project_id=project.pk)]
    assert names == ["aide", "robo"]


def test_a_project_is_named_by_its_slug_once(database: None) -> None:
    slug = unique("web-shop")
    made = ensure_project(slug=slug)
    assert made.name == slug.replace("-", " ").title()
    assert ensure_project(slug=slug, name="Another") == made
    assert ensure_project(slug=unique("x"), name="Shop").name == "Shop"


def test_somebody_added_again_keeps_their_other_roles_and_others_their_tokens(
    project: Project, bob: Person, alice: Person
) -> None:
    elsewhere = make_project()
    name = bob.user.username
    added = add_person(name=name, role=Role.ADMIN, project_slug=elsewhere.slug)

    roles = Membership.objects.filter(user=bob.user).values_list("project", "role")
    assert dict(roles) == {project.pk: "reviewer", elsewhere.pk: "admin"}
    assert added.user.must_change_password
    assert added.user.code == bob.user.code
    assert find_principal(alice.token) == find_principal(alice.token)
    with pytest.raises(Unauthenticated):
        find_principal(bob.token)


def test_pages_of_accounts_are_for_whom_they_are(bob: Person) -> None:
    browser = open_browser(bob.user)
    assert browser.get("/sign-in/")["Location"] == "/"
    page = browser.get("/password/")
    assert page.status_code == 200
    assert "no-store" in page["Cache-Control"]
    assert browser.put("/password/").status_code == 405
    empty = browser.post("/password/", {"new_password1": ""})
    assert (empty.status_code, "required" in empty.content.decode()) == (422, True)
    nobody = open_client()
    assert nobody.get("/password/")["Location"].startswith("/sign-in/")


def test_a_secret_never_used_has_no_date(robo: Robot) -> None:
    key = AgentKey.objects.get(digest=secrets.hash_secret(robo.key))
    assert (key.last_used_at, key.revoked_at) == (None, None)
    assert key.created_at <= timezone.now()


def ask(method: str, **more: Any) -> Any:
    request: Any = RequestFactory().generic(method, "/api/v1/x", **more)
    return request


def test_a_session_speaks_for_somebody_with_a_password_of_their_own(
    bob: Person,
) -> None:
    signed_in = SignedIn()
    request = ask("GET")
    request.user = AnonymousUser()
    assert signed_in(request) is None
    request.user = bob.user
    assert signed_in(request) == bob.principal
    write = ask("POST")
    write.user = AnonymousUser()
    assert signed_in(write) is None
    write.user = bob.user
    with pytest.raises(HttpError):  # without the token that only our pages have
        signed_in(write)
    request.user.must_change_password = True
    with pytest.raises(Forbidden, match="Choose a password of your own"):
        signed_in(request)


def test_a_persons_token_changes_nothing_from_inside_an_agents_session(
    robo: Robot, bob: Person
) -> None:
    person = find_principal(bob.token)
    inside = {"headers": {AGENT_SESSION: "claude-code:1"}}
    for method, more, also, fine in (
        ("GET", inside, False, True),
        ("HEAD", inside, False, True),
        ("OPTIONS", inside, False, True),
        ("POST", inside, False, False),
        ("DELETE", inside, False, False),
        ("POST", inside, True, True),
        ("POST", {}, False, True),
    ):
        request = ask(method, **more)
        parsed = ParsedRequest(principal=person, raw=b"", document=None)
        request.scope = {PARSED_REQUEST: parsed}
        bearer = PersonBearer(also_in_sessions=also)
        if fine:
            assert bearer(request) == person
        else:
            with pytest.raises(Forbidden, match="a person is asked"):
                bearer(request)
    for principal, kind in (
        (find_principal(robo.key), PersonBearer()),
        (person, AGENT),
    ):
        parsed = ParsedRequest(principal=principal, raw=b"", document=None)
        request.scope = {PARSED_REQUEST: parsed}
        with pytest.raises(Forbidden):
            kind(request)
    request.scope = {
        PARSED_REQUEST: ParsedRequest(principal=None, raw=b"", document=None)
    }
    assert AGENT(request) is None  # left to the session, if there is one
    assert PersonBearer()(request) is None
