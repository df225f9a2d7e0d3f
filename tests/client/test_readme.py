"""Every Python block of the client's README runs as it stands."""

from __future__ import annotations

import re
import subprocess
from typing import Any, get_args

import checkrail
import pytest
from checkrail import Checkrail, CheckrailError
from checkrail.intents import Intent
from checkrail.mcp.tools import WITH_OWN_RUN
from checkrail.people import Desk
from checkrail.testing import Scripted, answer, approve, deny, fake_checkrail

from tests.client.acting import approve as approve_review
from tests.client.acting import somebody
from tests.docs.markdown import blocks, code, read_page, table_under
from tests.support.builders import Person, Robot
from tests.support.live import Live

README = read_page("client/README.md")
BLOCKS = blocks(README, language="python")
# What the script of the fake has to hold for a block, by something that stands in it.
CALLS = {"rm -rf build": ["allow", "require-confirmation"]}
RULINGS: dict[str, list[Scripted]] = {
    "rm -rf build": [deny("Keep it")],
    "request_approval": [answer("main"), approve()],
    "submit_plan": [approve()],
    "StillWaiting": [answer("later", after=100)],
    "needs_human": [answer("yes")],
}
TURNS = {"needs_human": ["needs_human"]}


def list_scripted(script: dict[str, list[Any]], block: str) -> list[Any]:
    return [word for sign, words in script.items() if sign in block for word in words]


def play(block: str, **names: Any) -> None:
    exec(compile(block, "README.md", "exec"), names)  # noqa: S102 (our own page)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a block would have run in a shell."""
    commands: list[str] = []
    monkeypatch.setattr(subprocess, "run", lambda cmd, **_: commands.append(cmd))
    return commands


def test_every_block_runs(ran: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    ours = [block for block in BLOCKS if "Desk" not in block]
    assert len(ours) > 10
    for block in ours:
        with fake_checkrail(
            calls=list_scripted(CALLS, block),
            rulings=list_scripted(RULINGS, block),
            turns=list_scripted(TURNS, block),
        ) as rail:
            run = Checkrail().run("The block's own")
            play(block, run=run)
            assert rail.requests
            run.close()
    assert ran == ["git status", "make test"]
    said = capsys.readouterr().out
    assert "Not allowed: alice denied it: Keep it" in said
    assert "later" in said


def test_the_desk_of_the_page_rules(
    live: Live, robo: Robot, bob: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECKRAIL_URL", live.url)
    monkeypatch.setenv("CHECKRAIL_TOKEN", bob.token)
    (block,) = (block for block in BLOCKS if "Desk" in block)
    with Checkrail(live.url, robo.key).run("Asks") as run:
        review = run.open_review("request", "May I?")
        play(block)
        assert run.wait(review).note == "Start with the fixtures."


def test_every_error_on_the_page_is_one_and_none_is_missing() -> None:
    listed = set()
    for row in table_under(README, first_column="error"):
        listed |= set(re.findall(r"`(\w+)`", row[0]))
    assert all(issubclass(getattr(checkrail, name), CheckrailError) for name in listed)
    # Frameworks' own errors, where another test has loaded them, are on their own page.
    direct = {
        kind.__name__
        for kind in CheckrailError.__subclasses__()
        if kind.__module__
        in {"checkrail.errors", "checkrail.outcomes", "checkrail.problems"}
    }
    assert direct - listed == {"NotReplayable"}


def test_every_decision_is_listed() -> None:
    rows = table_under(README, first_column="decision")
    assert [code(row[0]) for row in rows] == [
        *("continue", "checkpoint", "throttle", "pause", "stop")
    ]


def test_the_turn_of_the_page_is_sent_on(
    live: Live, robo: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a real server: the fake says what its script says."""
    (block,) = (block for block in BLOCKS if "run.turn(" in block)
    with Checkrail(live.url, robo.key).run("The block's own") as run:
        play(block, run=run)
    assert "To the model:" in capsys.readouterr().out


def test_the_plan_of_the_page_is_followed(
    live: Live, robo: Robot, bob: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a real server: one review, and none of its calls is asked about."""
    (block,) = (block for block in BLOCKS if "submit_plan" in block)
    with (
        Checkrail(live.url, robo.key).run("The block's own") as run,
        Desk(live.url, bob.token) as desk,
        somebody(desk, run.id, approve_review) as seen,
    ):
        play(block, run=run)
    assert [review.kind for review in seen] == ["plan"]
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "As I proposed it",
        *(f"running rm -rf build/out-{number}" for number in (1, 2, 3)),
    ]


def test_every_intent_is_named() -> None:
    for intent in get_args(Intent):
        assert f"`{intent}`" in README


def test_every_argument_of_the_mcp_tools_is_named() -> None:
    page = read_page("docs/integrations.md")
    for tool in WITH_OWN_RUN:
        row = next(
            line for line in page.splitlines() if line.startswith(f"| `{tool.name}`")
        )
        for name in tool.input_schema["properties"]:
            needed = name in tool.input_schema["required"]
            assert (f"**`{name}`**" if needed else f"`{name}`") in row
