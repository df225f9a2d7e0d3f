"""A server that is really stopped and started again, under an agent with defaults."""

from __future__ import annotations

import json
from concurrent.futures import Future
from pathlib import Path

from checkrail import Checkrail, Outage
from checkrail.people import Desk

from tests.support.processes import manage, up
from tests.support.programs.ports import reserve_port
from tests.support.threads import Threads
from tests.support.waiting import until

# Slow, but ordinary: stopping and starting took 6 to 9 s on a busy machine.
SLOW = 6


def test_an_ordinary_restart_is_not_noticed(tmp_path: Path) -> None:
    made: list[str] = []
    with reserve_port() as port, up(tmp_path, port=port) as server:
        url = server.live.url
        for command, name, wanted in (
            ("agent_key", "robo", "key"),
            ("user_add", "bob", "token"),
        ):
            role = ("--role", "reviewer") if command == "user_add" else ()
            done = manage(
                *(command, name, *role, "--project", "p", "--json"),
                CHECKRAIL_DATA=str(tmp_path),
            )
            made.append(json.loads(done.stdout)[wanted])
        key, token = made
        outages: list[Outage] = []
        rail = Checkrail(url, key, on_offline=outages.append)
        run = rail.run("Works through a restart")
        outer = run.check_command("make test")
        inner = run.check_command("make lint")
        server.stop()
        with Threads(2) as pool:
            told: Future[object] = pool.submit(outer.result, output="214 passed")
            left: Future[object] = pool.submit(inner.__exit__, None, None, None)
            until(lambda: bool(outages) and outages[-1].seconds > SLOW)
            with up(tmp_path, port=port):
                told.result(timeout=60)
                left.result(timeout=60)
                assert run.step(tokens=7).decision == "continue"
                run.finish()
                with Desk(url, token) as desk:
                    seen = desk.run(run.id)
                    assert (seen.status, seen.budget.tokens.used) == ("completed", 7)
                    ledger = "".join(desk.ledger(run.id))
                    assert ledger.count('"call.settled"') == 2
        rail.close()
