"""Files and commands that every project begins with pass, and are shown whole."""

from __future__ import annotations

from pathlib import Path

import django.conf

from guidance.core.tools.calls import Call, CommandCall, EditCall
from tests.guidance.core.secrets.samples import WORD, body
from tests.guidance.core.tools.builders import command, judged
from tests.support.rows import each_row

COMPOSE = """\
# Use postgres/example user/password credentials
services:
  db:
    image: postgres
    restart: always
    shm_size: 128mb
    environment:
      POSTGRES_PASSWORD: example
  adminer:
    image: adminer
    ports:
      - 8080:8080
"""
SETTINGS = (
    Path(django.conf.__file__)
    .with_name("project_template")
    .joinpath("project_name", "settings.py-tpl")
    .read_text(encoding="utf-8")
)
KEY = body(50, WORD + "!@#$%^&*(-_=+)")


def fill_in(key: str) -> str:
    assert "{{ secret_key }}" in SETTINGS
    return SETTINGS.replace("{{ secret_key }}", key)


def write(path: str, content: str) -> EditCall:
    return EditCall(tool="Write", file_path=path, content=content)


def by_command(path: str, content: str) -> CommandCall:
    return command(f"cat > {path} <<'EOF'\n{content}EOF")


SAMPLE = fill_in(f"django-insecure-{KEY}")
ORDINARY: list[CommandCall | EditCall] = [
    write("compose.yaml", COMPOSE),
    write("compose.yaml", COMPOSE.replace(": example", ": postgres")),
    by_command("compose.yaml", COMPOSE),
    write("shop/settings.py", SAMPLE),
    by_command("shop/settings.py", SAMPLE),
    command("docker run -e POSTGRES_PASSWORD=postgres postgres"),
    command("docker run --name db -e POSTGRES_PASSWORD=mysecretpassword -d postgres"),
]


@each_row("call", ORDINARY)
def test_what_every_project_begins_with_passes_and_is_shown_whole(
    call: CommandCall | EditCall,
) -> None:
    verdict = judged(call)

    text = call.command if isinstance(call, CommandCall) else call.content
    assert (verdict.decision, verdict.redacted) == ("allow", False)
    assert text in verdict.shown.values()


@each_row(
    "call",
    [
        write("compose.yaml", COMPOSE.replace(": example", f": {body(20)}")),
        write("shop/settings.py", fill_in(KEY)),
        command(f"docker run -e POSTGRES_PASSWORD={body(20)} postgres"),
    ],
)
def test_the_same_with_a_key_of_ones_own_is_blocked_and_only_that_is_hidden(
    call: Call,
) -> None:
    verdict = judged(call)

    shown = str(verdict.shown)
    assert (verdict.decision, verdict.redacted) == ("block", True)
    assert shown.count("«") == 1
    assert "postgres" in shown or "INSTALLED_APPS" in shown
