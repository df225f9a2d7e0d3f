"""README and examples/README are followed as printed, by a newcomer in shells of their own."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from django.conf import settings

from tests.docs.markdown import blocks, read_page, table_under
from tests.docs.reader import Reader

pytestmark = [
    pytest.mark.timeout(600),  # it starts many processes, on whatever machine this is
    pytest.mark.skipif(
        not settings.EMBEDDED, reason="the README's server is the embedded one"
    ),
    pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed"),
]
README, EXAMPLES = read_page("README.md"), read_page("examples/README.md")


def test_the_readme_can_be_followed_word_for_word(tmp_path: Path) -> None:
    start, *terminal = blocks(README, language="sh")
    (agent,) = blocks(README, language="python")
    assert start.startswith("make run ")
    walk, setting_up = "\n".join(terminal[:-1]), terminal[-1]
    reader = Reader(tmp_path)
    with reader.serve():
        done = reader.run(f"{walk}\necho KEY=$KEY", URL=reader.url)
        assert (done.returncode, done.stderr) == (0, "")
        *said, key = done.stdout.splitlines()
        check_walk(said)
        variables = {"URL": reader.url, "KEY": key.removeprefix("KEY=")}
        with reader.approve_everything() as kinds:
            script = f"{setting_up}\npython - <<'END'\n{agent}END\n"
            done = reader.run(script, **variables, **reader.offline())
        assert done.returncode == 0, done.stderr
        assert kinds == ["confirmation"]
        assert "/queue/" in done.stdout.splitlines()[-1]
    assert reader.find_lost() == []


def check_walk(said: list[str]) -> None:
    *decisions, first, second, allowed, why, ruled, runs = said
    assert decisions == ["continue"] * 4 + ["pause"]
    assert (allowed, ruled) == ("allow", "amend")
    assert why == "Deletes files that git does not track"
    assert runs == "make clean && make"
    # The person and the agent are told at the same moment, in either order.
    ruling = first if "Start with the fixtures." in first else second
    assert "'action': 'approve'" in ruling
    assert "'note': 'Start with the fixtures.'" in ruling
    assert "ruled" in {first, second}


def test_the_examples_can_be_followed_word_for_word(tmp_path: Path) -> None:
    start, setting_up = blocks(EXAMPLES, language="sh")
    assert start == "make run\n"
    commands = []
    for _, cell, _ in table_under(EXAMPLES, first_column="example"):
        (command,) = re.findall(r"^`([^`]+)`", cell)
        commands += [command] * (2 if cell.endswith(", twice") else 1)
    assert len(commands) == 6
    reader = Reader(tmp_path)
    with reader.serve(), reader.approve_everything() as kinds:
        script = "\n".join([setting_up, *commands])
        script = script.replace("http://127.0.0.1:8000", reader.url)
        done = reader.run(script, **reader.offline())
        assert done.returncode == 0, done.stdout + done.stderr
    assert kinds.count("confirmation") >= 3
    assert "Released." in done.stdout
    assert (reader.clone / ".claude" / "settings.json").exists()
    assert reader.find_lost() == []
