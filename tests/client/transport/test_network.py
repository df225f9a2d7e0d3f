"""The server restarts and the network is cut while an agent works and waits."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from concurrent.futures import Future

import httpx
import pytest
from checkrail import Checkrail, Outage, Unreachable
from checkrail.people import Desk

from tests.client.acting import count_parked
from tests.support.applications import build_application
from tests.support.builders import Robot
from tests.support.live import Live, serve
from tests.support.network import Network
from tests.support.threads import Threads
from tests.support.waiting import until


@pytest.fixture
def network(live: Live) -> Iterator[Network]:
    with Network(live.url) as network:
        yield network


def test_the_server_restarts_while_the_agent_waits_and_the_agent_goes_on(
    network: Network, robo: Robot, desk: Desk, live: Live
) -> None:
    """By default: no offline policy was chosen."""
    rail = Checkrail(network.url, robo.key)
    with Threads(1) as pool, rail.run("Unsure") as run:
        with serve(build_application()) as first:
            network.cut()
            network.mend(first.url)
            waiting = pool.submit(run.step, uncertainty=0.95)
            until(lambda: count_parked(run.id) > 0)
            network.cut()
        assert not waiting.done()
        (review,) = desk.reviews(run=run.id)
        with serve(build_application()) as second:
            network.mend(second.url)
            until(lambda: count_parked(run.id) > 0)
            desk.approve(review)
            assert waiting.result(timeout=60).decision == "pause"
            assert run.step().decision == "continue"
            run.finish()
            rail.close()


def test_a_ruling_given_while_the_network_is_cut_is_heard_afterwards(
    network: Network, robo: Robot, desk: Desk
) -> None:
    outages: list[Outage] = []
    rail = Checkrail(network.url, robo.key, on_offline=outages.append)
    with Threads(1) as pool, rail.run("Unsure") as run:
        waiting = pool.submit(run.ask, "Which branch?")
        until(lambda: count_parked(run.id) > 0)
        network.cut()
        (review,) = desk.reviews(run=run.id)
        desk.answer(review, "main")
        until(lambda: len(outages) > 1)
        network.mend()
        assert waiting.result(timeout=60) == "main"
    assert outages[0].url == rail.connection.base


def test_offline_the_agent_fails_closed_and_says_so(
    network: Network, robo: Robot, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    rail = Checkrail(network.url, robo.key, retry_seconds=0.2, offline_seconds=0.2)

    def work() -> None:
        with run:
            run.step(tokens=1)
            network.cut()
            with pytest.raises(Unreachable, match="does not answer"):
                run.check_command("ls")
            with pytest.raises(Unreachable):
                run.step(tokens=2)
            run.ask("Which branch?")

    run = rail.run("Cut off")
    with pytest.raises(Unreachable):
        work()
    assert "does not answer" in caplog.text
    assert desk.run(run.id).status == "running"
    network.mend()
    # The step that got no answer is not lost, and not told twice.
    again = run.step(tokens=4)
    assert again.step == 3
    assert desk.run(run.id).budget.tokens.used == 7
    rail.close()


def test_offline_the_agent_waits_where_it_was_told_to(
    network: Network, robo: Robot, desk: Desk
) -> None:
    outages: list[Outage] = []
    rail = Checkrail(network.url, robo.key, offline="wait", on_offline=outages.append)
    with Threads(1) as pool, rail.run("Cut off") as run:
        network.cut()
        waiting: Future[object] = pool.submit(run.step, tokens=1)
        until(lambda: len(outages) > 2)
        assert not waiting.done()
        network.mend()
        waiting.result(timeout=60)
    assert desk.run(run.id).steps == 1
    assert [outage.tries for outage in outages[:3]] == [1, 2, 3]


def test_a_step_whose_answer_was_lost_is_counted_once(
    live: Live, robo: Robot, desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    class Losing(httpx.HTTPTransport):
        """The server hears the request; its first answer never arrives."""

        lost = False

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if request.method == "POST" and not self.lost and self.armed:
                self.lost = True
                response.close()
                raise httpx.ReadError("connection reset", request=request)
            return response

        armed = False

    transport = Losing()
    caplog.set_level(logging.WARNING)
    rail = Checkrail(live.url, robo.key, transport=transport)
    with rail.run("Loses answers") as run:
        transport.armed = True
        assert run.step(tokens=3).step == 1
        transport.lost = False
        with run.check_command("ls"):
            transport.lost = False
    assert desk.run(run.id).budget.tokens.used == 3
    assert desk.run(run.id).budget.tool_calls.used == 1
    assert desk.run(run.id).status == "completed"
