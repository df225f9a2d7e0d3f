"""Which pages there are: a name, an address, and what is done before the picture.

`{run}` and its like stand for what `scenes.py` has found or made. `tests/screenshots/
test_pages.py` fails when a page of the console is missing here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Page


@dataclass(frozen=True, slots=True)
class Shot:
    name: str
    path: str
    prepare: Callable[[Page], None] | None = None
    status: int = 200


def _click(selector: str) -> Callable[[Page], None]:
    return lambda page: page.locator(selector).first.click()


def _open_entry(page: Page) -> None:
    page.locator("#timeline summary").nth(2).click()
    page.locator("#timeline details[open] .two").first.wait_for()


def _press(*keys: str) -> Callable[[Page], None]:
    def press(page: Page) -> None:
        page.locator("#queue li a").first.focus()
        for key in keys:
            page.keyboard.press(key)

    return press


def _write_amendment(page: Page) -> None:
    page.locator("[data-dialog=amend]").first.click()
    page.locator("#amend textarea").first.fill("rm -rf build/cache")
    page.locator("#amend-verdict .diff").wait_for()


def _change_planned(page: Page) -> None:
    page.locator("#plan .change summary").first.click()
    page.get_by_label("How often").first.fill("none")
    page.locator("#plan .strike input").nth(2).check()
    for _ in range(2):  # what is high takes a second press
        page.locator("#dock [value=amend]").click()
    page.locator("#plan .field-error").wait_for()


def _choose_alike(page: Page) -> None:
    page.locator("#queue .tick-box").first.check()
    page.locator("#selection button[value=approve]").click()
    page.locator("#selection-dialog .picked").wait_for()


def _halt_staging(page: Page) -> None:
    """A label that no run has: the demo goes on."""
    if page.locator("#halts .notice").count() == 0:
        page.get_by_role("link", name="Halts", exact=True).click()
        page.get_by_role("link", name="Halt …").click()
        page.get_by_label("Runs with a label").check()
        page.get_by_label("Label, as in team:shop").fill("stage:staging")
        page.get_by_label("Why, shown to agents and people").fill(
            "The database of staging is being moved."
        )
        page.get_by_role("button", name="Halt now").click()
    page.locator("#halts .notice").wait_for()


def _open_release(page: Page) -> None:
    page.get_by_role("link", name="Release …").click()
    page.locator("#halt-release").wait_for()


# Before anybody has signed in.
PUBLIC = (
    Shot("sign-in", "/sign-in/"),
    Shot("invitation", "{invitation}"),
    Shot("not-found", "/nowhere/", status=404),
)

PROJECT = (
    Shot("queue", "queue/"),
    Shot("queue-mine", "queue/?show=mine"),
    Shot("queue-decided", "queue/decided/"),
    Shot("queue-decided-by-all", "queue/decided/?by=all"),
    Shot("queue-palette", "queue/", _press("Control+k")),
    Shot("queue-keys", "queue/", _press("?")),
    Shot("queue-selection", "queue/?q=kind%3Apause", _choose_alike),
    Shot("queue-talk", "queue/{talk}/"),
    Shot("queue-assign", "queue/{talk}/", _click("[data-dialog=assign]")),
    Shot("queue-snooze", "queue/{talk}/", _click("[data-dialog=snooze]")),
    Shot("queue-tell", "queue/{talk}/", _click("[data-dialog=tell]")),
    Shot("queue-ruled", "queue/{ruled}/"),
    Shot(
        "queue-allowance", "queue/{paused}/", _click(".allow label:has([value=steps])")
    ),
    Shot("run-allowances", "runs/{allowed_run}/"),
    Shot("plan-review", "queue/{plan_review}/"),
    Shot("plan-amend", "queue/{plan_review}/", _change_planned),
    Shot("plan-run", "runs/{plan_run}/"),
    Shot("run-tell", "runs/{open_run}/", _click("[data-dialog=tell]")),
    Shot("queue-amend", "queue/{command}/", _write_amendment),
    Shot("queue-first-look", "queue/{looked}/"),
    Shot("queue-of-agent", "agents/{agent}/reviews/"),
    Shot("overview-24h", "overview/?period=24h"),
    Shot("overview-7d", "overview/?period=7d"),
    Shot("overview-30d", "overview/?period=30d"),
    Shot("overview-calls", "overview/?period=30d&of=calls"),
    Shot("runs", "runs/"),
    Shot("runs-filtered", "runs/?q=status%3Astopped+since%3A30d&sort=-cost"),
    Shot("runs-saved-view", "runs/?{view}"),
    Shot("runs-no-match", "runs/?q=agent%3Anobody"),
    Shot("runs-bad-query", "runs/?q=cost%3Emuch"),
    Shot("run", "runs/{run}/"),
    Shot("run-entry-open", "runs/{run}/", _open_entry),
    Shot("run-decisions", "runs/{run}/?show=decisions"),
    Shot("run-abort", "runs/{open_run}/", _click("[data-dialog=abort]")),
    Shot("run-entry", "runs/{run}/entries/2/"),
    Shot("run-calls", "runs/{call_run}/calls/"),
    Shot("run-tree", "runs/{tree}/"),
    Shot("run-compare-median", "runs/compare/?a={run}&b=median"),
    Shot("run-compare", "runs/compare/?a={run}&b={open_run}"),
    Shot("run-verify", "runs/{run}/verify/"),
    Shot("run-checks", "runs/{check_run}/"),
    Shot("rulings", "rulings/"),
    Shot("rulings-of-bob", "rulings/?by=bob&period=30d"),
    Shot("rulings-no-match", "rulings/?by=admin&regretted=true&period=24h"),
    Shot("gates", "gates/"),
    Shot("policies", "policies/"),
    Shot("policy", "policies/default/"),
    Shot("policy-version", "policies/default/versions/1/"),
    Shot("policy-compare", "policies/default/compare/?from=1&to={version}"),
    Shot("policy-edit", "policies/default/edit/"),
    Shot("policy-suggestions", "policies/default/suggestions/"),
    Shot(
        "policy-suggestion",
        "policies/default/suggestions/continue.max_rework_ratio/",
    ),
    Shot("policy-new", "new-policy/"),
    Shot("assignments", "assignments/"),
    Shot("backtest", "backtests/{backtest}/"),
    Shot("shadow", "shadows/{shadow}/"),
    Shot("permissions", "permissions/"),
    Shot("exempt", "calls/{blocked_call}/exempt/"),
    Shot("halts", "halts/"),
    Shot("halt-new", "halts/new/"),
    Shot("halt-released", "halts/{halt}/release/"),
    Shot("limits", "limits/"),
    Shot("limit-raise", "limits/raise/?scope=agent_day&agent=upgrade-lead"),
    Shot("gateway", "gateway/"),
    Shot("webhooks", "webhooks/"),
    Shot("webhook", "webhooks/{webhook}/"),
    Shot("loop", "loop/"),
    Shot("loop-decision", "loop/decisions/{decision}/"),
    Shot("loop-recommendations", "loop/recommendations/"),
    Shot("loop-notes", "loop/notes/"),
    Shot("loop-incidents", "loop/incidents/"),
    Shot("loop-week", "loop/week/"),
    Shot("ledger", "ledger/"),
    Shot("settings-start", "settings/start/"),
    Shot("settings-project", "settings/project/"),
    Shot("settings-people", "settings/people/"),
    Shot("settings-agents", "settings/agents/"),
    Shot("settings-agent", "settings/agents/?agent={agent}"),
    Shot("settings-changes", "settings/changes/"),
    Shot("settings-you", "settings/you/"),
    Shot("glossary", "glossary/"),
    Shot("settings-keyboard", "settings/keyboard/"),
    Shot("settings-notifications", "settings/notifications/"),
    Shot("password", "/password/"),
    # Every page says what is halted from here on.
    Shot("halts-standing", "halts/", _halt_staging),
    Shot("halt-release", "halts/", _open_release),
    Shot("queue-halted", "queue/", _halt_staging),
)

# Of a server without a demo: what each page says while there is nothing.
EMPTY = tuple(
    Shot(f"empty-{name}", f"{name}/")
    for name in (
        *("queue", "overview", "runs", "rulings", "gates", "policies", "permissions"),
        *("limits", "webhooks", "loop", "ledger", "gateway", "settings/start"),
        *("settings/agents", "settings/people", "settings/changes", "settings/you"),
        *("loop/recommendations", "loop/notes", "loop/incidents", "loop/week"),
    )
)
