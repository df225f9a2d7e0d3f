"""The commands of manage.py in the manual work as printed, one after the other."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import httpx
import pytest
from django.core.management import call_command

from accounts.models import Project
from tests.docs.markdown import blocks, read_page
from tests.support.builders import start_run, unique

pytestmark = pytest.mark.once("words of commands, whose SQL is repeated elsewhere")

PAGES = ("docs/operations.md", "docs/telemetry.md", "docs/policy.md")
# They go on for ever, or change the database of this suite as a whole.
NOT_HERE = {"up", "migrate"}


def list_commands() -> list[list[str]]:
    found = []
    for page in PAGES:
        for block in blocks(read_page(page), language="sh"):
            for line in block.splitlines():
                printed = re.match(r"python manage\.py (.*)", line.partition("  #")[0])
                if printed:
                    found.append(shlex.split(printed[1]))
    return [words for words in found if words[0] not in NOT_HERE]


def test_every_command_of_the_manual_works(
    agent: httpx.Client,
    project: Project,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "draft.yaml").write_text("continue:\n  max_rework_ratio: 0.25\n")
    # Names of this suite's database, and what was made by the lines before.
    real = {"alice": unique("alice"), "main": unique("main"), "shop": unique("shop")}
    real["ID"] = start_run(agent)
    commands = list_commands()
    assert len(commands) >= 12
    for command in commands:
        words = [real.get(word, word) for word in command]
        if words[0] == "backtest":
            words += ["--project", project.slug]  # a reader has but one
        call_command(words[0], *words[1:])
        told = capsys.readouterr()
        assert told.out, command
        for sample, made in (
            ("crk_1a2B3c4D", r"\bcrk_[\w-]{8}"),
            ("crt_5e6F7g8H", r"\bcrt_[\w-]{8}"),
        ):
            if found := re.search(made, told.out):
                real.setdefault(sample, found[0])
    assert {"crk_1a2B3c4D", "crt_5e6F7g8H"} <= real.keys()
