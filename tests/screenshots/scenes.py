"""What the demo has and the pictures name, and what is made for them beside it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
from playwright.sync_api import Page, expect

from tests.screenshots.server import DEMO_PROJECT

PATIENCE = 120.0
SECRET = "ghp_" + "c9Kq2LwXz7RtVb4NmJd8YsHf3GpQ6AeT1uWo"
# Stricter than the policy in force: a backtest and a shadow have something to say.
DRAFT = {
    "yaml": "continue:\n  max_rework_ratio: 0.2\n  min_coherence: 0.55\n",
    "note": "Less rework",
}

# What a plan may hold: exact calls and calls by shape, paths, a tool, a long command, and
# one that no plan covers.
PLAN: dict[str, Any] = {
    "title": "Free the build server: old builds, their images, the merged branch",
    "steps": [
        {
            "purpose": "Remove the builds that no release points to",
            "paths": ["builds"],
            "calls": [
                {
                    "tool": "Bash",
                    "command": "rm -rf builds/shop-1181",
                    "shape": "shape",
                    "count": 4,
                },
                {"tool": "Bash", "command": "rm -rf /var/cache/builds"},
            ],
        },
        {
            "purpose": "Publish the branch without the commits of the spring sale",
            "calls": [
                {"tool": "Bash", "command": "git push --force origin release/2.4"},
                {
                    "tool": "Bash",
                    "command": "docker image prune --all --force --filter "
                    "label=org.example.shop.builds.unused=true --filter until=720h "
                    "--filter label!=org.example.shop.keep=/srv/registry/images/keep",
                },
            ],
        },
        {
            "purpose": "Forget sessions of deleted customers",
            "calls": [
                {
                    "tool": "mcp__db__query",
                    "arguments": {
                        "database": "shop",
                        "sql": "DELETE FROM sessions WHERE customer_id NOT IN "
                        "(SELECT id FROM customers)",
                    },
                }
            ],
        },
        {
            "purpose": "See what is left",
            "calls": [{"tool": "Bash", "command": "du -sh builds", "count": 2}],
        },
    ],
    "limits": {"time_ms": 7_200_000, "cost_usd": "2.50"},
}
# Of it, with one call that it does not name.
FOLLOWED = (
    "rm -rf builds/shop-1181",
    "rm -rf builds/shop-1187",
    "du -sh builds",
    "git push --force origin release/2.4",
    "rm -rf layers/shared",
)


def make_token(page: Page, project: str) -> str:
    page.goto(f"/p/{project}/settings/you/")
    page.get_by_label("Name", exact=True).first.fill("screenshots")
    page.get_by_role("button", name="New token").click()
    return page.get_by_label("Token", exact=True).input_value()


def build_scene(page: Page, api: httpx.Client) -> dict[str, str]:
    """Values for the placeholders of the addresses."""
    page.goto(f"/p/{DEMO_PROJECT}/queue/")
    expect(page.locator("#queue li a").nth(6)).to_be_visible(timeout=PATIENCE * 1000)
    _tell_loop(api)
    made = _make_settings(api)
    return {
        **made,
        **_find_runs(api),
        **_make_policy_work(api),
        **_work_on_reviews(api),
        "view": _save_view(page),
        "decision": _find_decision(page),
        **_work_as_agent(api, made["agent"]),
        "halt": _halt_and_release(api),
        "looked": _make_looked_call(api),
    }


def _halt_and_release(api: httpx.Client) -> str:
    """Of a label that no run has: the demo goes on."""
    begun = {"scope": {"label": "stage:canary"}, "reason": "Orders were booked twice."}
    halt = str(_ask(api.post("halts", json=begun))["id"])
    released = {"reason": "The import is mended."}
    _ask(api.request("DELETE", f"halts/{halt}", json=released))
    return halt


def list_reviews(api: httpx.Client) -> dict[str, str]:
    """One open review of each kind, by its kind."""
    found: dict[str, str] = {}
    for review in api.get("reviews?state=open&limit=50").json()["items"]:
        found.setdefault(review["kind"], review["id"])
    return found


def _work_on_reviews(api: httpx.Client) -> dict[str, str]:
    """One is talked about, one is approved for the next steps, one waits for changes."""
    reviews = api.get("reviews?state=open&limit=50").json()["items"]

    def find(*kinds: str) -> dict[str, Any]:
        return next(it for it in reviews if it["kind"] in kinds)

    talk = find("request")
    signals = [
        it for it in reviews if it["title"].startswith(("Uncertainty", "Rework"))
    ]
    ruled, paused = signals[:2]
    path = f"reviews/{talk['id']}"
    _ask(api.post(f"{path}/comments", json={"text": "Who owns the roadmap?"}))
    first = _ask(api.get(path))["history"][-1]["comment"]
    reply = {"text": "@admin does, ask before noon.", "reply_to": first}
    _ask(api.post(f"{path}/comments", json=reply))
    passed = {"to": "admin", "note": "Waits for an answer from support."}
    _ask(api.post(f"{path}/assign", json=passed))
    seen = {name: ruled[name] for name in ("version", "content_digest")}
    approval = {
        "action": "approve",
        "note": "Keep the fixtures.",
        "allowance": {"steps": 20},
        **seen,
    }
    _ask(api.post(f"reviews/{ruled['id']}/ruling", json=approval))
    command = find("confirmation")
    return {
        "talk": talk["id"],
        "ruled": ruled["id"],
        "allowed_run": ruled["run"],
        "paused": paused["id"],
        "command": command["id"],
    }


def _find_runs(api: httpx.Client) -> dict[str, str]:
    def find(**wanted: str) -> str:
        runs = _ask(api.get("runs", params={**wanted, "limit": 1}))["items"]
        return str(runs[0]["id"])

    paused = find(status="paused")
    for text, tags in (
        ("Leave the fixtures as they are.", ["scope"]),
        ("If the tests take too long, run only those of the folder you changed.", []),
    ):
        note = {"text": text, "tags": tags}
        _ask(api.post(f"runs/{paused}/notes", json=note))
    return {
        "run": find(agent="billing-migrator", sort="-steps"),
        "open_run": paused,
        "call_run": find(agent="release-pilot"),
        "check_run": find(agent="checkout-tester"),
        "tree": find(agent="upgrade-lead"),
    }


def _tell_loop(api: httpx.Client) -> None:
    _ask(api.post("loop/notes", json={"text": "Look at the rework of docs-sweeper"}))
    advice = {"title": "Ask for a smaller plan", "change": {"advice": "Split the task"}}
    _ask(api.post("loop/recommendations", json=advice))


def _make_policy_work(api: httpx.Client) -> dict[str, str]:
    """A draft, its backtest, its shadow, and a search for better values."""
    path = "policies/default"
    version = _ask(api.post(f"{path}/versions", json=DRAFT))["version"]
    backtest = _ask(api.post(f"{path}/backtest", json={"version": version}))["id"]
    shadow = _ask(api.post(f"{path}/shadow", json={"version": version}))["id"]
    _ask(api.post(f"{path}/suggestions", json={}))
    _wait_until(lambda: _ask(api.get(f"backtests/{backtest}"))["state"] == "finished")
    _wait_until(lambda: _ask(api.get(f"{path}/suggestions"))["state"] == "finished")
    return {"version": str(version), "backtest": backtest, "shadow": shadow}


def _make_settings(api: httpx.Client) -> dict[str, str]:
    hook = {
        "url": "https://hooks.invalid/checkrail",
        "types": ["review.opened", "run.stopped"],
        "description": "Chat of the team",
    }
    invited = {"email": "cleo@example.com", "role": "manager"}
    agents = _ask(api.get("agents"))["items"]
    return {
        "webhook": _ask(api.post("webhooks", json=hook))["id"],
        "invitation": _ask(api.post("people/invitations", json=invited))["link"],
        "agent": next(it["id"] for it in agents if it["name"] == "release-pilot"),
    }


def _work_as_agent(api: httpx.Client, agent: str) -> dict[str, str]:
    """A call that is blocked, a plan that waits, and one that is followed."""
    key = _ask(api.post(f"agents/{agent}/keys", json={"name": "ci"}))["key"]
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=api.base_url, headers=headers, timeout=60) as work:
        waits = _submit_plan(work, "Move the shop to the new storage")
        followed = _submit_plan(work, "Free the build server")
        seen = {name: followed[name] for name in ("version", "content_digest")}
        ruling = {"action": "approve", "note": "Go ahead.", **seen}
        _ask(api.post(f"reviews/{followed['id']}/ruling", json=ruling))
        for command in FOLLOWED:
            _call(work, followed["run"], command)
        return {
            "plan_review": str(waits["id"]),
            "plan_run": str(followed["run"]),
            "blocked_call": _make_blocked_call(work),
        }


def _submit_plan(work: httpx.Client, task: str) -> Any:
    labels = {"repo": "shop", "host": "build-01"}
    run = _ask(work.post("runs", json={"task": task, "labels": labels}))["id"]
    return _ask(work.post(f"runs/{run}/plans", json=PLAN))


def _call(work: httpx.Client, run: str, command: str) -> Any:
    asked = {"kind": "command", "tool": "Bash", "command": command}
    return _ask(work.post(f"runs/{run}/tool-calls", json=asked))


def _make_blocked_call(work: httpx.Client) -> str:
    """A call that is blocked because of a secret in it."""
    run = _ask(work.post("runs", json={"task": "Publish the notes"}))
    command = f"curl -H 'Authorization: token {SECRET}' https://git.example/notes"
    asked = {"kind": "command", "command": command}
    return str(_ask(work.post(f"runs/{run['id']}/tool-calls", json=asked))["id"])


def _make_looked_call(api: httpx.Client) -> str:
    """A call that the demo's model leaves to people."""
    agents = _ask(api.get("agents"))["items"]
    agent = next(it["id"] for it in agents if it["name"] == "shop-janitor")
    key = _ask(api.post(f"agents/{agent}/keys", json={"name": "ci"}))["key"]
    headers = {"Authorization": f"Bearer {key}"}
    task = {"task": "Make room on the shop's disk"}
    run = _ask(api.post("runs", json=task, headers=headers))
    asked = {"kind": "command", "command": "rm -rf /srv/shop/archive/2023"}
    path = f"runs/{run['id']}/tool-calls"
    return str(_ask(api.post(path, json=asked, headers=headers))["review"]["id"])


def _save_view(page: Page) -> str:
    page.goto(f"/p/{DEMO_PROJECT}/runs/?q=status%3Afailed%2Cstopped&sort=-cost")
    page.locator("summary", has_text="Save view").click()
    page.locator("#view-name").fill("Trouble, the dearest first")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_load_state()
    return page.url.partition("?")[2]


def _find_decision(page: Page) -> str:
    page.goto(f"/p/{DEMO_PROJECT}/loop/")
    address = page.locator("[data-open-row]").first.get_attribute("href")
    return str(address).rstrip("/").rpartition("/")[2]


def _ask(answer: httpx.Response) -> Any:
    if not answer.is_success:
        raise RuntimeError(f"{answer.request.method} {answer.url}: {answer.text}")
    return answer.json()


def _wait_until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError("The server did not finish in time.")
        time.sleep(0.5)
