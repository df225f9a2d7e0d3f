"""Whatever is pressed, clicked and changed by others, at whatever speed: what is ruled on
is what was on screen at that moment."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import Project
from console.models import Preferences
from reviews.models import Review, ReviewState, Ruling
from tests.reviews.floods import ask_to_run
from tests.support.builders import Person, start_run, step
from tests.support.examples import ALL
from tests.support.people import get_seen

pytestmark = [
    pytest.mark.once("looks at pages, whatever database is behind them"),
    pytest.mark.timeout(400),
]
RECORDER = (Path(__file__).parent / "recorder.js").read_text()
EVENTS = 2_000 if ALL else 200
WANTED = 14
# So many rulings have to be made, or nothing is shown by this test.
LEAST = EVENTS // 100
KEYS = "jjjjjjkkkkaaad"
OTHER_KEYS = ("Escape", "ControlOrMeta+Enter", "ArrowDown", "Home", "1")


class Others:
    """The agents that ask and the people who rule, claim and comment meanwhile."""

    def __init__(
        self, dice: random.Random, agent: httpx.Client, reviewer: httpx.Client
    ) -> None:
        self.dice = dice
        self.agent = agent
        self.reviewer = reviewer
        self.opened: list[str] = []

    def arrive(self) -> None:
        number = len(self.opened)
        if self.dice.random() < 0.3:
            self.opened.append(ask_to_run(self.agent, f"rm -rf build-{number}"))
            return
        run = start_run(self.agent)
        body = step(1, uncertainty=0.95, summary=f"Step of run {number}")
        answer = self.agent.post(f"/runs/{run}/steps", json=body)
        self.opened.append(answer.json()["review"]["id"])

    def act(self) -> None:
        """Somebody else does something; that they may be too late is fine."""
        waiting = self.waiting()
        if len(waiting) < WANTED:
            self.arrive()
            return
        review = self.dice.choice(waiting)
        match self.dice.choice(["rule", "claim", "release", "comments"]):
            case "rule":
                body = {"action": "approve", **get_seen(self.reviewer, review)}
                self.reviewer.post(f"/reviews/{review}/ruling", json=body)
            case "comments":
                self.reviewer.post(f"/reviews/{review}/comments", json={"text": "Hm"})
            case act:
                self.reviewer.post(f"/reviews/{review}/{act}")

    def waiting(self) -> list[str]:
        found = Review.objects.filter(code__in=self.opened, state=ReviewState.OPEN)
        return [str(code) for code in found.values_list("code", flat=True)]


def click(page: Page, dice: random.Random) -> None:
    """On a row, or on the button that approves: at a place, as with a mouse."""
    where = "#dock [value=approve]" if dice.random() < 0.3 else "#queue li a"
    spots: list[dict[str, float]] = page.evaluate(
        """where => [...document.querySelectorAll(where)].slice(0, 12)
            .map(it => [it, it.getBoundingClientRect()])
            .map(([it, box]) => ({it, x: box.x + 20, y: box.y + box.height / 2}))
            // What is hidden or scrolled away is covered by a link that leaves the page.
            .filter(({it, x, y}) => it.contains(document.elementFromPoint(x, y)))
            .map(({x, y}) => ({x, y}))""",
        where,
    )
    if spots:
        spot = dice.choice(spots)
        page.mouse.click(spot["x"], spot["y"])


def approve_by_palette(page: Page) -> None:
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("approve")
    page.keyboard.press("Enter")


def stay(route: Route) -> None:
    """A link that was hit before its script ran would leave the page, and with it what was
    recorded: an answer without content leaves everything as it is."""
    if route.request.is_navigation_request():
        route.fulfill(status=204)
    else:
        route.fallback()


def start_again(page: Page, recorded: list[dict[str, Any]]) -> None:
    """As after a crash of the browser: whatever was on its way is lost, or is not."""
    recorded.append(page.evaluate("window.recorded"))
    page.unroute("**/p/**", stay)
    page.reload()
    page.route("**/p/**", stay)
    page.evaluate(RECORDER, len(recorded))


def test_what_is_ruled_on_is_what_was_on_screen_at_the_key_press(
    queue_of: Callable[..., Page],
    project: Project,
    alice: Person,
    bob: Person,
    agent: httpx.Client,
    reviewer: httpx.Client,
) -> None:
    dice = random.Random(2_214)  # so that it can be repeated
    others = Others(dice, agent, reviewer)
    for _ in range(WANTED):
        others.arrive()
    # The next one opens by itself, which must not take a key that was meant for the last.
    Preferences.objects.filter(user=alice.user).update(opens_next=True)
    page = queue_of(alice, project.slug)
    page.route("**/p/**", stay)
    page.evaluate(RECORDER, 2_214)
    parts: list[dict[str, Any]] = []
    events = 0
    while events < EVENTS:
        chance = dice.random()
        if chance < 0.62:
            keys = "".join(dice.choices(KEYS, k=dice.randint(1, 6)))
            page.keyboard.type(keys, delay=dice.choice([0, 0, 15, 60]))
            events += len(keys)
        else:
            events += 1
            if chance < 0.74:
                click(page, dice)
            elif chance < 0.92:
                others.act()
            elif chance < 0.95:
                page.keyboard.press(dice.choice(OTHER_KEYS))
            elif chance < 0.965:
                approve_by_palette(page)
            elif chance < 0.975:
                start_again(page, parts)
            else:
                page.wait_for_timeout(dice.randint(50, 400))
    # Where the server is slow keys are dead while something else is shown: then some more
    # are pressed, with time between them.
    mine = Ruling.objects.filter(by=alice.user)
    for _ in range(60):
        page.wait_for_timeout(800)
        if mine.count() >= LEAST:
            break
        others.arrive()
        page.keyboard.type("ja", delay=300)
    parts.append(page.evaluate("window.recorded"))
    recorded = {
        "sent": [sent for part in parts for sent in part["sent"]],
        "alarms": sum(part["alarms"] for part in parts),
        "said": sum(part["said"] for part in parts),
    }
    for sent in recorded["sent"]:
        shown = sent["input"]
        names = ("code", "digest", "version")
        assert [sent[name] for name in names] == [shown[name] for name in names], sent
        # The row may be gone already, and the focus be elsewhere: never on another row.
        assert shown["row"] in (sent["code"], None), sent
        assert shown["focus"] in (sent["code"], None), sent
    by_code = {sent["code"]: sent["digest"] for sent in recorded["sent"]}
    rulings = mine.select_related("review")
    ruled = {str(item.review.code): item.review.content_digest for item in rulings}
    assert ruled.items() <= by_code.items()
    digests = {item.content_digest for item in Review.objects.filter(project=project)}
    assert len(digests) == len(others.opened)  # so that a digest names one review
    assert len(ruled) >= LEAST, recorded
    assert recorded["said"] > 0
    assert recorded["alarms"] == 0
    expect(page.locator("#conn")).to_have_attribute("data-state", "live")
