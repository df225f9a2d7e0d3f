"""The container files agree with the code: no image is built to find that out."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from celery.app.utils import find_app
from celery.bin.base import CLIContext
from celery.bin.celery import celery
from django.apps import apps
from django.core.management import get_commands
from django.urls import resolve
from uvicorn.main import main as uvicorn

from config.environment import Environment
from tests.support.rows import each_row

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "docker/Dockerfile").read_text()
COMPOSE_TEXT = (ROOT / "docker/compose.yaml").read_text()
COMPOSE = yaml.safe_load(COMPOSE_TEXT)
EXAMPLE = (ROOT / "docker/.env.example").read_text()
IGNORE = (ROOT / ".dockerignore").read_text().splitlines()
# ${NAME}, ${NAME:-default}, ${NAME:?what to do}
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<text>[^}]*))?\}")
# Settings of what is sent to others, and the services that send it.
OUTGOING = ("llm_", "webhook_")
LEAVING = {"web", "worker"}
OURS = {
    name: service
    for name, service in COMPOSE["services"].items()
    if service["image"].startswith("checkrail:")
}


def list_copied() -> list[str]:
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
    return [source for line in lines for source in line.split()]


def command(service: str) -> list[str]:
    words: list[str] = OURS[service]["command"]
    return [VARIABLE.sub(lambda found: found["text"], word) for word in words]


def test_every_source_of_a_copy_exists_and_is_sent_to_the_builder() -> None:
    assert [source for source in list_copied() if not (ROOT / source).exists()] == []
    assert [source for source in list_copied() if f"!{source}" not in IGNORE] == []


def test_every_app_of_ours_is_copied() -> None:
    ours = {
        config.name
        for config in apps.get_app_configs()
        if Path(config.path).parent == ROOT
    }
    assert ours <= set(list_copied())


@each_row("service", OURS)
def test_a_container_takes_every_setting_that_concerns_it(service: str) -> None:
    """What is set in docker/.env and not named in the file would be ignored silently."""
    given = {
        str(field.validation_alias): name.startswith(OUTGOING)
        for name, field in Environment.model_fields.items()
    }
    # Of one process on SQLite: folder and port of a container are fixed.
    del given["CHECKRAIL_DATA"], given["CHECKRAIL_PORT"]
    assert set(OURS[service]["environment"]) == {
        alias for alias, outgoing in given.items() if not outgoing or service in LEAVING
    }


def test_the_example_shows_the_defaults_of_the_settings() -> None:
    shown = dict(re.findall(r"^#(CHECKRAIL_\w+)=(.*)$", EXAMPLE, re.MULTILINE))
    for field in Environment.model_fields.values():
        if field.default not in (None, ()) and (
            value := shown.get(str(field.validation_alias))
        ):
            assert value.lower() == str(field.default).lower(), field.validation_alias


def test_the_example_lists_every_variable_and_sets_those_without_a_default() -> None:
    uses = list(VARIABLE.finditer(COMPOSE_TEXT))
    required = {use["name"] for use in uses if use["kind"] == "?"}
    optional = {use["name"] for use in uses if use["kind"] == "-"}
    # Without a value: taken from docker/.env if it is there, else not set.
    optional |= {
        name
        for service in OURS.values()
        for name, value in service["environment"].items()
        if value is None
    }
    assert set(re.findall(r"^(\w+)=", EXAMPLE, re.MULTILINE)) == required
    assert set(re.findall(r"^#(\w+)=", EXAMPLE, re.MULTILINE)) == optional


def test_only_what_speaks_to_others_has_a_way_out() -> None:
    """Webhooks are sent by the worker; models are asked by the worker and by web."""
    internal = {
        name for name, network in COMPOSE["networks"].items() if "internal" in network
    }
    leaving = {
        name
        for name, service in COMPOSE["services"].items()
        if set(service["networks"]) - internal
    }
    assert leaving == LEAVING
    # Who is on the proxy's network is believed about addresses: web is alone there.
    assert [
        name for name, service in OURS.items() if "front" in service["networks"]
    ] == ["web"]


def test_no_secret_has_a_default() -> None:
    secret = re.compile(r"SECRET|PASSWORD|KEY$")
    uses = [
        use for use in VARIABLE.finditer(COMPOSE_TEXT) if secret.search(use["name"])
    ]
    assert {use["kind"] for use in uses} == {"?"}


def test_migrate_is_a_command_of_manage_py() -> None:
    python, script, name, *_ = command("migrate")
    assert (python, script) == ("python", "manage.py")
    assert name in get_commands()


def test_web_is_a_command_uvicorn_understands() -> None:
    program, *words = command("web")
    options = uvicorn.make_context(program, words).params
    module, name = options["app"].split(":")
    assert callable(getattr(import_module(module), name))
    assert options["host"] == "0.0.0.0"  # noqa: S104


def test_the_health_check_asks_a_path_that_exists() -> None:
    found = re.search(r"127\.0\.0\.1:8000(/\w+)", COMPOSE_TEXT)
    assert found is not None
    assert resolve(found[1]).func is not None


@pytest.mark.parametrize("service", ["worker", "beat"])
def test_worker_and_beat_are_commands_celery_understands(service: str) -> None:
    program, flag, app, name, *words = command(service)
    assert (program, flag, name) == ("celery", "-A", service)
    context = CLIContext(app=find_app(app), no_color=True, workdir="")
    celery.commands[name].make_context(name, words, obj=context)


def test_there_is_exactly_one_beat() -> None:
    beats: list[dict[str, Any]] = [
        service for service in OURS.values() if "beat" in service["command"]
    ]
    assert len(beats) == 1
    assert "deploy" not in beats[0]


@each_row("service", OURS)
def test_containers_of_ours_cannot_write_or_gain_rights(service: str) -> None:
    assert OURS[service]["read_only"] is True
    assert OURS[service]["cap_drop"] == ["ALL"]
    assert OURS[service]["security_opt"] == ["no-new-privileges:true"]
