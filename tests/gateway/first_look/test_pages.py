"""What people see of a model that looked first: its doubt at once, its verdict on what they
check blindly only after the ruling."""

from __future__ import annotations

import httpx
import pytest

from accounts.models import Project
from ledger.writer.db_threads import run_in_db_thread
from tests.console.queue.panes import open_desk
from tests.gateway.calls.calls import rule
from tests.gateway.first_look.conftest import Start
from tests.gateway.first_look.looking import answers, call
from tests.gateway.llm.models import hangs_up, model
from tests.support.browsing import open_browser
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

CARD = "A model looked first"


async def test_its_doubt_stands_beside_the_call(
    agent: httpx.Client, alice: Person, project: Project, start: Start
) -> None:
    run = await start()
    async with model("openai", answers("openai", "ask", reason="Whose is build?")):
        asked = await call(agent, run)
    pane = await run_in_db_thread(lambda: open_desk(alice, project, asked).look())
    card = pane.part(CARD)
    assert "stand-in-1" in card
    assert "leaves it to you" in card
    assert "Whose is build?" in card
    assert "first_look" not in pane.part("Why you are asked")


async def test_that_it_could_not_answer_is_said(
    agent: httpx.Client, alice: Person, project: Project, start: Start
) -> None:
    run = await start()
    async with model("openai", hangs_up):
        asked = await call(agent, run)
    pane = await run_in_db_thread(lambda: open_desk(alice, project, asked).look())
    assert "could not answer" in pane.part(CARD)
    assert "the connection failed" in pane.part(CARD)


@pytest.mark.parametrize(
    ("action", "told"), [("approve", "as ruled"), ("deny", "the ruling differs")]
)
async def test_who_checks_it_blindly_sees_it_after_the_ruling(
    agent: httpx.Client,
    reviewer: httpx.Client,
    alice: Person,
    project: Project,
    start: Start,
    action: str,
    told: str,
) -> None:
    run = await start(blind_share=1)
    async with model("openai", answers("openai", "allow")):
        asked = await call(agent, run)
    before = await run_in_db_thread(lambda: open_desk(alice, project, asked).look())
    assert CARD not in before.html
    assert rule(reviewer, asked, action, note="So be it.").status_code == 200
    after = await run_in_db_thread(lambda: open_desk(alice, project, asked).look())
    card = after.part(CARD)
    assert "would let it through" in card
    assert told in card
    assert "Nobody was told before the ruling" in card


async def test_the_run_tells_of_the_question_and_not_of_a_blind_answer(
    agent: httpx.Client, alice: Person, project: Project, start: Start
) -> None:
    run = await start(blind_share=1)
    async with model("openai", answers("openai", "allow")):
        await call(agent, run)

    def read() -> str:
        page = open_browser(alice.user).get(f"/p/{project.slug}/runs/{run}/")
        text: str = page.content.decode()
        return text

    page = await run_in_db_thread(read)
    assert "Model asked to look first" in page
    assert "It is made again" not in page
