"""What the page's scripts say and do in moments that are hard to bring about by hand."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from accounts.models import Project
from console.format import format_ago, format_clock, format_seconds
from tests.browser.modules import expose_modules
from tests.browser.queue.test_keyboard import open_pauses
from tests.support.builders import Person

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")
Open = Callable[..., Page]


def tell(page: Page, name: str, detail: dict[str, Any]) -> None:
    """An event of htmx, as the page would hear it."""
    page.evaluate(
        "([name, detail]) => document.dispatchEvent(new CustomEvent(name, { detail }))",
        [name, detail],
    )


def test_times_tick_in_the_words_of_the_server(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_pauses(agent, count=1)
    page = queue_of(alice, project.slug)
    expose_modules(page)
    spans = [0, 4, 5, 9, 59, 60, 61, 600, 3599, 3600, 3660, 7199, 86_399, 86_400]
    spans += [90_000, 172_800, 180_061]
    shown: list[list[str]] = page.evaluate(
        """(spans) => spans.map((span) => ["clock", "words", "ago", "left"].map((tick) => {
          const time = document.createElement("time");
          const ahead = tick === "left" ? 1 : -1;
          time.dataset.tick = tick;
          time.dateTime = new Date(modules.$js_times.now() + ahead * (span * 1000 + 400)).toISOString();
          document.body.append(time);
          document.dispatchEvent(new CustomEvent("htmx:after:swap", { detail: { ctx: {} } }));
          time.remove();
          return time.textContent;
        }))""",
        spans,
    )
    for span, (clock, words, ago, left) in zip(spans, shown, strict=True):
        assert clock == format_clock(span), span
        assert words == format_seconds(span), span
        assert ago == format_ago(span), span
        # What is left counts the second that has begun.
        assert left == format_seconds(span + 1), span
    late = page.evaluate(
        """() => [[-1, -1], [-1, 9], [9, 9]].map(([soon, late]) => {
          const time = document.createElement("time");
          Object.assign(time.dataset, {
            tick: "clock", soon: modules.$js_times.now() + soon * 1000, late: modules.$js_times.now() + late * 1000,
          });
          time.dateTime = new Date(modules.$js_times.now()).toISOString();
          document.body.append(time);
          document.dispatchEvent(new CustomEvent("htmx:after:swap", { detail: { ctx: {} } }));
          time.remove();
          return time.className;
        })"""
    )
    assert late == ["late", "soon", ""]


def test_keys_with_a_modifier_are_the_browsers_and_notes_are_carried_on(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, _ = open_pauses(agent, count=2)
    page = queue_of(alice, project.slug)
    expect(page).to_have_title(re.compile(r"^\(2\) "))
    for keys in ("Control+a", "Alt+a", "Meta+a", "Control+j"):
        page.keyboard.press(keys)
    page.evaluate(
        """() => document.body.dispatchEvent(
          new KeyboardEvent("keydown", { key: "a", bubbles: true, isComposing: true }))"""
    )
    expect(page.locator("#detail")).to_have_attribute("data-code", first)
    expect(
        page.locator("#detail").get_by_role("button", name="Approve")
    ).to_be_visible()

    note = page.locator(f"#note-{first}")
    note.fill("too risky")
    assert page.evaluate(
        "(id) => sessionStorage.getItem(`draft:${id}`)", f"note-{first}"
    )
    page.keyboard.press("Escape")
    page.keyboard.press("b")
    reason = page.get_by_role("dialog").locator("[name=reason]")
    expect(reason).to_have_value("too risky")
    reason.fill("quite another reason")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("b")
    expect(reason).to_have_value("quite another reason")
    page.keyboard.press("Escape")
    note.fill("")
    assert (
        page.evaluate("(id) => sessionStorage.getItem(`draft:${id}`)", f"note-{first}")
        is None
    ), "what was taken back is not kept"


def test_the_page_says_whether_it_is_live_and_why_not(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_pauses(agent, count=1)
    page = queue_of(alice, project.slug)
    line, toast = page.locator("#conn"), page.locator("#toast")
    for code, state, word, said, link in (
        (4401, "offline", "not live", "You are signed out", "Sign in again"),
        (4404, "offline", "not live", "no longer have access", "Go to your projects"),
        (4429, "offline", "not live", "Too many pages are open", "Reload"),
    ):
        tell(page, "htmx:ws:close", {"code": code})
        expect(line).to_have_attribute("data-state", state)
        expect(line).to_have_text(word)
        expect(toast).to_contain_text(said)
        expect(toast.locator("a")).to_have_text(link)
    sent = page.evaluate(
        """() => {
          const sent = [];
          const socket = { send: (text) => sent.push(JSON.parse(text)) };
          document.dispatchEvent(
            new CustomEvent("htmx:ws:after:connection", { detail: { connection: { socket } } }));
          return [sent, Number(document.getElementById("live-cursor").dataset.since)];
        }"""
    )
    assert sent[0] == [{"type": "resume", "since": sent[1]}]
    expect(line).to_have_text("live")
    expect(toast).to_be_hidden()
    tell(page, "htmx:ws:close", {"code": 1006})
    expect(line).to_have_text("reconnecting")
    expect(toast).to_contain_text("The connection is lost")


def test_what_failed_is_said_as_far_as_it_is_known(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    open_pauses(agent, count=1)
    page = queue_of(alice, project.slug)
    said: list[str] = page.evaluate(
        """() => {
          const text = () => document.querySelector("#toast [data-text]").textContent;
          const fail = (name, detail) => {
            document.querySelector("#toast [data-text]").textContent = "";
            document.dispatchEvent(new CustomEvent(name, { detail }));
            return text();
          };
          const plain = document.createElement("div");
          const judged = document.createElement("div");
          judged.dataset.judged = "";
          const ctx = (method, status, { source = plain, event = undefined } = {}) => ({
            request: { method }, sourceElement: source, sourceEvent: event,
            response: { status }, text: undefined,
          });
          const error = (method, name, more) =>
            fail("htmx:error", { ctx: { ...ctx(method, 0), ...more }, error: { name } });
          const answered = (...words) => fail("htmx:response:error", { ctx: ctx(...words) });
          const person = { isTrusted: true, type: "click" };
          return [
            answered("POST", 500),
            answered("POST", 500, { source: judged }),
            answered("POST", 403),
            answered("POST", 404),
            answered("POST", 422),
            answered("GET", 500, { event: person }),
            answered("GET", 500, { event: { type: "update" } }),
            answered("GET", 500),
            answered("GET", 404),
            error("POST", "TypeError", {}),
            error("POST", "AbortError", {}),
            error("POST", "TypeError", { text: "read" }),
            error("GET", "TypeError", { sourceEvent: person }),
            error("GET", "TypeError", {}),
          ];
        }"""
    )
    unknown = "It is not known whether this was taken. Look before you try again."
    assert said == [
        f"The server had a problem. {unknown}",
        "The server had a problem. Try again.",
        "This was refused. Reload the page and try again.",
        "This is no longer here.",
        "",
        "The server had a problem. Try again.",
        "The server had a problem. What you see may be old.",
        "",
        "",
        f"The server did not answer. {unknown}",
        "",
        "",
        "The server cannot be reached. Try again.",
        "",
    ]


def test_an_older_row_undoes_no_newer_one_and_each_has_its_place(
    queue_of: Open, project: Project, alice: Person, agent: httpx.Client
) -> None:
    first, second, third = open_pauses(agent, count=3)
    page = queue_of(alice, project.slug)
    expose_modules(page)
    order = page.evaluate(
        """([first, second, third]) => {
          const list = document.getElementById("queue");
          const row = (code) => document.getElementById(`review-${code}`);
          const order = () => [...list.querySelectorAll("li:not([data-gone])")].map((li) => li.id.slice(7));
          const change = (code, changes) => {
            const copy = row(code).cloneNode(true);
            Object.assign(copy.dataset, changes);
            modules.$js_rowsync.syncRow(list, copy);
          };
          const newer = (code) => Number(row(code).dataset.seq) + 1;
          const seen = [order()];
          change(third, { seq: 0, key: 0, answer: 0 });  // an older message comes late
          seen.push(order());
          change(third, { seq: newer(third), key: 0, answer: 0 });
          seen.push(order());
          change(second, { seq: newer(second), gone: "" });
          seen.push(order());
          return seen;
        }""",
        [first, second, third],
    )
    assert order == [
        [first, second, third],
        [first, second, third],
        [third, first, second],
        [third, first],
    ]
