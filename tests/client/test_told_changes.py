"""What a reviewer changed and wrote reaches the model by a guarded function's value."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from checkrail import AsyncCheckrail, Checkrail, Denied
from checkrail.testing import amend, approve, deny, fake_checkrail

ASK = "require-confirmation"
CHANGED = amend(arguments={"command": "rm -ri build"}, note='Only "build".')
CHANGE = (
    "Note: a reviewer changed the arguments of this call. It ran with "
    '{"command": "rm -ri build"} instead of {"command": "rm -rf build"}; '
    "do not repeat your own."
)
NOTE = 'alice, a reviewer, wrote: "Only \\"build\\"."'


def call_blocking(value: Any, **options: Any) -> Any:
    with Checkrail().run("Tidy up") as run:

        @run.guard(**options)
        def shell(command: str) -> Any:
            return value

        return shell("rm -rf build")


def call_in_a_thread(value: Any, **options: Any) -> Any:
    with Checkrail().run("Tidy up") as run:

        @run.guard(**options)
        async def shell(command: str) -> Any:
            return value

        return asyncio.run(shell("rm -rf build"))


def call_awaited(value: Any, **options: Any) -> Any:
    async def act() -> Any:
        async with AsyncCheckrail().run("Tidy up") as run:

            @run.guard(**options)
            async def shell(command: str) -> Any:
                return value

            return await shell("rm -rf build")

    return asyncio.run(act())


WAYS = pytest.mark.parametrize("call", [call_blocking, call_in_a_thread, call_awaited])


@WAYS
@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("done", f"{CHANGE}\n{NOTE}\n\ndone"),
        (None, f"{CHANGE}\n{NOTE}"),
        ([1], {"note": f"{CHANGE}\n{NOTE}", "result": [1]}),
        ({"a": 1}, {"note": f"{CHANGE}\n{NOTE}", "result": {"a": 1}}),
    ],
)
def test_a_change_is_told_with_the_value(call: Any, value: Any, told: Any) -> None:
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]) as rail:
        assert call(value) == told
        (sent,) = rail.sent("POST", "/result")
    assert sent["output"] == value  # the server hears what the function gave


@WAYS
def test_a_note_is_told_and_nothing_where_there_is_none(call: Any) -> None:
    with fake_checkrail(calls=[ASK], rulings=[approve("Fine.")]):
        assert call("done") == 'alice, a reviewer, wrote: "Fine."\n\ndone'
    with fake_checkrail(calls=[ASK], rulings=[approve()]):
        assert call("done") == "done"
    with fake_checkrail(calls=[ASK], rulings=[amend(arguments={"command": "ls"})]):
        assert 'with {"command": "ls"}' in call("done")
    with fake_checkrail():
        assert call("done") == "done"
    with (
        fake_checkrail(calls=[ASK], rulings=[deny("Never.")]),
        pytest.raises(Denied, match="Never"),
    ):
        call("done")


@WAYS
def test_an_author_may_tell_it_otherwise(call: Any) -> None:
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]):
        assert call([1], tell=lambda value, words: (value, words)) == (
            [1],
            f"{CHANGE}\n{NOTE}",
        )


def test_what_a_failed_call_could_not_tell_comes_with_the_next() -> None:
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]), Checkrail().run("Go") as run:

        @run.guard
        def shell(command: str) -> str:
            if command.startswith("rm"):
                raise OSError("gone")
            return "done"

        with pytest.raises(OSError, match="gone"):
            shell("rm -rf build")
        assert shell("ls") == f"{CHANGE}\n{NOTE}\n\ndone"
        assert shell("ls") == "done"


async def test_the_same_on_an_event_loop() -> None:
    with fake_checkrail(calls=[ASK], rulings=[CHANGED]):
        async with AsyncCheckrail().run("Go") as run:

            @run.guard
            async def shell(command: str) -> str:
                if command.startswith("rm"):
                    raise OSError("gone")
                return "done"

            with pytest.raises(OSError, match="gone"):
                await shell("rm -rf build")
            assert await shell("ls") == f"{CHANGE}\n{NOTE}\n\ndone"


def test_the_note_of_a_pause_comes_with_the_next_result() -> None:
    with (
        fake_checkrail(decisions=["pause"], rulings=[approve("Slower.")]),
        Checkrail().run("Go") as run,
    ):

        @run.guard
        def look() -> str:
            return "done"

        run.step(tokens=1)
        assert look() == 'alice, a reviewer, wrote: "Slower."\n\ndone'
        assert look() == "done"
