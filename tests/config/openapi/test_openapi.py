"""The document of the API: every door that exists is in it, and nothing from outside."""

from __future__ import annotations

import re

import httpx
import pytest

from tests.support.live import Live
from tests.support.problems import STATUSES

pytestmark = pytest.mark.once("compares a document with the code")

# The doors of the contract that stand so far.
DOORS = {
    "POST /runs",
    "GET /runs",
    "GET /runs.csv",
    "GET /runs/{run}",
    "POST /runs/{run}/steps",
    "POST /runs/{run}/steps/batch",
    "POST /runs/{run}/checkpoints",
    "GET /runs/{run}/checkpoints/latest",
    "POST /runs/{run}/finish",
    "POST /runs/{run}/violations",
    "POST /runs/{run}/abort",
    "POST /runs/{run}/reopen",
    "GET /runs/{run}/decision",
    "GET /runs/{run}/events",
    "POST /runs/{run}/reviews",
    "POST /runs/{run}/plans",
    "GET /runs/{run}/plans",
    "GET /runs/{run}/ledger",
    "GET /runs/{run}/verify",
    "GET /reviews",
    "GET /reviews/{review}",
    "POST /reviews/{review}/ruling",
    "POST /reviews/bulk-ruling",
    "POST /reviews/{review}/claim",
    "POST /reviews/{review}/release",
    "POST /reviews/{review}/comments",
    "POST /reviews/{review}/assign",
    "POST /reviews/{review}/handover",
    "POST /reviews/{review}/snooze",
    "POST /reviews/{review}/withdraw",
    "POST /runs/{run}/tool-calls",
    "GET /runs/{run}/tool-calls/{call}",
    "POST /runs/{run}/tool-calls/{call}/claim",
    "POST /runs/{run}/tool-calls/{call}/result",
    "POST /runs/{run}/gate-checks",
    "GET /runs/{run}/gate-checks/{check}",
    "POST /runs/{run}/gate-checks/{check}/verdicts",
    "POST /runs/{run}/warnings/{warning}/acknowledge",
    "POST /runs/{run}/turns",
    "POST /hooks/{dialect}/{event}",
    "POST /otlp/v1/traces",
    "GET /permissions",
    "POST /permissions/{permission}/revoke",
    "POST /runs/{run}/allowances/{allowance}/revoke",
    "GET /runs/{run}/notes",
    "POST /runs/{run}/notes",
    "POST /runs/{run}/notes/{note}/read",
    "GET /exemptions",
    "POST /exemptions",
    "POST /exemptions/{exemption}/revoke",
    "GET /halts",
    "POST /halts",
    "DELETE /halts/{halt}",
    "GET /policies",
    "GET /stats/gates",
    "GET /stats/reviews",
    "GET /limits",
    "POST /limits/raise",
    "GET /stats/rules",
    "GET /stats/reviewers",
    "GET /rulings",
    "GET /rulings.csv",
    "GET /stats/spend",
    "GET /stats/spend.csv",
    "GET /policies/schema.json",
    "POST /policies/validate",
    "GET /policies/{name}",
    "GET /policies/{name}/versions",
    "GET /policies/{name}/versions/{number}",
    "GET /policies/{name}/diff",
    "POST /policies/{name}/backtest",
    "GET /policies/{name}/suggestions",
    "POST /policies/{name}/suggestions",
    "POST /policies/{name}/suggestions/draft",
    "GET /backtests/{backtest}",
    "GET /backtests/{backtest}/items",
    "POST /backtests/{backtest}/cancel",
    "POST /policies/{name}/shadow",
    "GET /policies/{name}/shadows",
    "GET /shadows/{shadow}",
    "GET /shadows/{shadow}/items",
    "POST /shadows/{shadow}/stop",
    "POST /policies/{name}/versions",
    "POST /policies/{name}/versions/{number}/activate",
    "GET /policies/assignments",
    "PUT /policies/assignments",
    "POST /webhooks",
    "GET /webhooks",
    "GET /webhooks/{webhook}",
    "DELETE /webhooks/{webhook}",
    "POST /webhooks/{webhook}/test",
    "POST /webhooks/{webhook}/rotate",
    "POST /webhooks/{webhook}/enable",
    "POST /webhooks/{webhook}/disable",
    "GET /webhooks/{webhook}/deliveries",
    "POST /webhooks/deliveries/{delivery}/resend",
    "POST /evaluate/continue",
    "POST /evaluate/command",
    "POST /evaluate/tool",
    "POST /evaluate/edit",
    "POST /evaluate/multi-edit",
    "POST /evaluate/turn",
    "POST /evaluate/verdict",
    "POST /loop/signals",
    "POST /loop/heartbeat",
    "POST /loop/notes",
    "GET /loop/notes",
    "POST /loop/notes/{note}/done",
    "POST /loop/notes/{note}/failed",
    "POST /loop/recommendations",
    "GET /loop/recommendations",
    "POST /loop/recommendations/{recommendation}/adopt",
    "POST /loop/recommendations/{recommendation}/dismiss",
    "GET /loop/decisions",
    "GET /loop/decisions/{decision_id}",
    "POST /loop/decisions/{decision_id}/outcome",
    "GET /loop/incidents",
    "POST /loop/incidents/{incident}/resolve",
    "GET /loop",
    "GET /loop/summary",
    "POST /loop/switch",
    "GET /healthz",
    "GET /readyz",
    "GET /status",
    *("GET /people", "POST /people/invitations", "PATCH /people/{person}"),
    *("POST /invitations/{invitation}/send", "DELETE /people/{person}"),
    "DELETE /invitations/{invitation}",
    "POST /people/{person}/password-link",
    *("GET /me/profile", "PUT /me/profile"),
    *("GET /me/tokens", "POST /me/tokens", "DELETE /me/tokens/{token}"),
    *("GET /project", "PATCH /project", "POST /projects"),
    *("GET /agents", "POST /agents", "PATCH /agents/{agent}"),
    *("POST /agents/{agent}/keys", "DELETE /agents/{agent}/keys/{key}"),
}


def test_the_document_lists_every_door(live: Live) -> None:
    schema = httpx.get(f"{live.api}/openapi.json", timeout=30).json()

    listed = {
        f"{method.upper()} {path.removeprefix('/api/v1')}"
        for path, methods in schema["paths"].items()
        for method in methods
    }
    assert listed == DOORS
    ids = [
        operation["operationId"]
        for methods in schema["paths"].values()
        for operation in methods.values()
    ]
    assert len(ids) == len(set(ids))


def test_every_reference_in_the_document_leads_somewhere(live: Live) -> None:
    answer = httpx.get(f"{live.api}/openapi.json", timeout=30)

    known = answer.json()["components"]["schemas"]
    for name in re.findall(r'"#/components/schemas/([^"]+)"', answer.text):
        assert name in known


@pytest.mark.parametrize("path", ["/api/v1/docs", "/problems/run-paused"])
def test_pages_about_the_api_need_nothing_from_outside(live: Live, path: str) -> None:
    page = httpx.get(live.url + path, timeout=30)

    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    for address in re.findall(r'(?:src|href)="([^"]+)"', page.text):
        assert not address.startswith(("http", "//")), address


def test_every_kind_of_problem_has_its_page(live: Live) -> None:
    with httpx.Client(base_url=live.url) as client:
        for slug, status in {**STATUSES, "internal": 500}.items():
            page = client.get(f"/problems/{slug}")
            assert page.status_code == 200, slug
            assert str(status) in page.text
    assert httpx.get(f"{live.url}/problems/no-such-thing").status_code == 404
