"""Keys and tokens: shown once, kept as a digest, gone at once when revoked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.apps import apps
from django.db.models import CharField, TextField
from django.utils import timezone

import config.settings
from accounts import secrets
from accounts.auth import find_principal
from accounts.models import AgentKey, PersonalToken, Project
from accounts.services import issue_agent_key, revoke_agent_key
from tests.conftest import client_for
from tests.support.builders import Person, Robot, make_project, start_run
from tests.support.live import Live
from tests.support.problems import problem

pytestmark = pytest.mark.once("forms of secrets, not SQL")


def test_a_secret_holds_256_random_bits_behind_its_prefix() -> None:
    made = {secrets.create_secret(secrets.AGENT_PREFIX) for _ in range(100)}

    assert len(made) == 100
    for secret in made:
        assert secret.startswith("crk_")
        assert len(secret) == len("crk_") + 43


def test_no_column_of_any_table_holds_a_secret(
    agent: httpx.Client, reviewer: httpx.Client, robo: Robot, bob: Person
) -> None:
    start_run(agent, task="Something to write down")
    reviewer.get("/reviews")

    for secret in (robo.key, bob.token, bob.password):
        for model in apps.get_models():
            for field in model._meta.get_fields():
                if isinstance(field, CharField | TextField):
                    holds: dict[str, Any] = {f"{field.name}__contains": secret}
                    assert not model._default_manager.filter(**holds).exists()
    key = AgentKey.objects.get(digest=secrets.hash_secret(robo.key))
    assert robo.key.startswith(key.lookup)
    assert len(key.lookup) <= 12


def test_passwords_are_kept_by_argon2_outside_of_tests() -> None:
    # The module's own value: the suite overrides the live settings for speed.
    assert config.settings.PASSWORD_HASHERS[0].endswith("Argon2PasswordHasher")


def test_a_revoked_key_is_refused_from_the_next_request_on(
    live: Live, project: Project
) -> None:
    key, secret = issue_agent_key(name="robo", project_slug=project.slug)
    with client_for(live, Robot(name="robo", key=secret)) as client:
        run = start_run(client)
        revoke_agent_key(key=key)
        for door in ("/runs", f"/runs/{run}/decision"):
            problem(client.get(door), "unauthenticated")


def test_another_key_of_the_same_agent_goes_on(live: Live, project: Project) -> None:
    first, _ = issue_agent_key(name="robo", project_slug=project.slug)
    _, second = issue_agent_key(name="robo", project_slug=project.slug)

    revoke_agent_key(key=first)

    with client_for(live, Robot(name="robo", key=second)) as client:
        assert client.get("/runs").status_code == 200


def test_a_key_remembers_when_it_was_last_used(
    agent: httpx.Client, reviewer: httpx.Client, robo: Robot, bob: Person
) -> None:
    pairs: list[tuple[Any, str]] = [(AgentKey, robo.key), (PersonalToken, bob.token)]
    for model, secret in pairs:
        assert (
            model.objects.get(digest=secrets.hash_secret(secret)).last_used_at is None
        )

    agent.get("/runs")
    reviewer.get("/reviews")

    for model, secret in pairs:
        row = model.objects.get(digest=secrets.hash_secret(secret))
        assert timezone.now() - row.last_used_at < timedelta(minutes=1)
        # One write a minute is enough: a busy agent costs none per request.
        find_principal(secret)
        assert model.objects.get(pk=row.pk).last_used_at == row.last_used_at
        model.objects.filter(pk=row.pk).update(
            last_used_at=timezone.now() - timedelta(minutes=2)
        )
        find_principal(secret)
        again = model.objects.get(pk=row.pk).last_used_at
        assert again > row.last_used_at


def test_a_key_opens_its_own_project_only(live: Live, project: Project) -> None:
    """The same agent's name in two projects is two agents."""
    _, here = issue_agent_key(name="robo", project_slug=project.slug)
    _, there = issue_agent_key(name="robo", project_slug=make_project().slug)
    with (
        client_for(live, Robot(name="robo", key=here)) as ours,
        client_for(live, Robot(name="robo", key=there)) as theirs,
    ):
        run = start_run(ours)
        problem(theirs.get(f"/runs/{run}"), "not-found")


def test_a_secret_is_not_repeated_in_a_refusal(live: Live) -> None:
    secret = "crk_" + "x" * 43
    with client_for(live, Robot(name="x", key=secret)) as client:
        answer = client.get("/runs", params={"q": secret})

    assert secret not in answer.text
