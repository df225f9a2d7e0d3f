"""The main figures twice: counted from exported entries, and as the server tells them.

What an entry means is written down here once more, from docs/ledger.md: nothing of the
code that is checked has a part in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import httpx

from accounts.models import SYSTEM_AGENTS

Entry = dict[str, Any]
# By what it was counted, its key, and what was counted.
Counts = Counter[tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedRun:
    """A run as the list of runs has it, and its entries."""

    agent: str
    model: str
    entries: Sequence[Entry]

    @property
    def labels(self) -> Mapping[str, str]:
        found: dict[str, str] = self.entries[0]["payload"]["labels"]
        return found


def recount(runs: Sequence[ExportedRun], people: Mapping[str, str]) -> Counts:
    """`people` are names by the actors of entries."""
    counts: Counts = Counter()
    kinds: dict[str, str] = {}
    own = [run for run in runs if run.agent not in SYSTEM_AGENTS]
    counts.update(_count_attention(own))
    for run in runs:
        for entry in run.entries:
            counts.update(_count_review(entry, people, kinds))
            if run.agent in SYSTEM_AGENTS:
                continue
            counts.update(_count_decision(entry))
            spent = _count_spent(entry)
            keys = [
                ("agent", run.agent),
                ("model", run.model),
                ("day", entry["at"][:10]),
            ]
            keys += [(f"label:{name}", value) for name, value in run.labels.items()]
            for key in keys:
                counts.update({(*key, what): number for what, number in spent.items()})
    return +counts


def _count_attention(runs: Sequence[ExportedRun]) -> dict[tuple[str, ...], int]:
    """Reviews that agents opened, how long they worked, and what needed no person."""
    found: Counts = Counter()
    running_ms = 0
    for run in runs:
        before = 0
        for entry in run.entries:
            payload = entry["payload"]
            found["attention", "reviews"] += entry["type"] == "review.opened"
            if entry["type"] in {"step.judged", "call.judged"}:
                running_ms += max(0, payload["running_ms"] - before)
                before = payload["running_ms"]
            if entry["type"] == "call.judged" and payload["permission"]:
                found["attention", "permission"] += 1
    found["attention", "hours"] = round(_round_hours(running_ms / 3_600_000))
    return found


def _round_hours(hours: float) -> float:
    """In ten-thousandths, as they are told."""
    return round(hours, 4) * 10_000


def _count_spent(entry: Entry) -> dict[str, int]:
    payload = entry["payload"]
    match entry["type"]:
        case "run.started":
            return {"runs": 1}
        case "step.judged" | "step.observed":
            report = payload["report"]
            own = max(0, report["tool_calls"] - payload.get("counted_calls", 0))
            return {
                "steps": 1,
                "tokens": report["tokens"],
                "tool_calls": own,
                "cost_micros": report["cost_micros"],
            }
        case "call.judged" | "review.ruled" if payload.get("grant"):
            return {"tool_calls": 1}
        case "call.settled":
            cost = payload["cost_micros"] or 0
            return {"tokens": payload["tokens"], "cost_micros": cost}
        case _:
            return {}


def _count_decision(entry: Entry) -> Iterator[tuple[str, ...]]:
    payload = entry["payload"]
    if entry["type"] == "step.judged":
        verdict = payload["verdict"]
        yield "hour", entry["at"][:13], verdict["decision"]
        for finding in verdict["findings"]:
            yield "findings", finding["gate"]
            if verdict["decision"] == finding["decision"] == "pause":
                yield "paused_by", finding["gate"]
    elif entry["type"] == "call.judged":
        yield "calls", payload["decision"]
        for finding in payload["findings"]:
            yield "call_findings", finding["gate"]


def _count_review(
    entry: Entry, people: Mapping[str, str], kinds: dict[str, str]
) -> Iterator[tuple[str, ...]]:
    payload = entry["payload"]
    match entry["type"]:
        case "review.opened":
            kinds[payload["review"]] = payload["kind"]
            yield "opened", payload["kind"]
        case "review.expired":
            yield "expired", kinds[payload["review"]]
        case "review.ruled":
            yield "ruled", payload["kind"], payload["action"]
            yield "person", people[entry["actor"]], payload["action"]
        case _:
            pass


def read_told(client: httpx.Client, *, since: str, labels: Sequence[str]) -> Counts:
    """The same of the server's statistics."""

    def ask(path: str, **query: str) -> dict[str, Any]:
        answer = client.get(f"/stats/{path}", params={"since": since, **query})
        assert answer.status_code == 200, answer.text
        told: dict[str, Any] = answer.json()
        return told

    counts: Counts = Counter()
    for by in ("agent", "model", "day", *(f"label:{name}" for name in labels)):
        for item in ask("spend", by=by)["items"]:
            for what in ("runs", "steps", "tokens", "tool_calls"):
                counts[by, item["key"], what] = item[what]
            micros = Decimal(item["cost_usd"]) * 1_000_000
            counts[by, item["key"], "cost_micros"] = int(micros)
    gates = ask("gates", interval="hour")
    for point in gates["series"]:
        for decision, number in point["decisions"].items():
            counts["hour", point["at"][:13], decision] = number
    for name in ("findings", "paused_by", "calls", "call_findings"):
        counts.update({(name, key): number for key, number in gates[name].items()})
    reviews = ask("reviews")
    counts["attention", "reviews"] = reviews["interruptions"]["reviews"]
    hours = reviews["interruptions"]["agent_hours"]
    counts["attention", "hours"] = round(_round_hours(hours))
    counts["attention", "permission"] = reviews["not_asked"]["permission"]
    for kind, told in reviews["by_kind"].items():
        counts["opened", kind] = told["opened"]
        counts["expired", kind] = told["expired"]
        for action, number in told["ruled"].items():
            counts["ruled", kind, action] = number
    for person in ask("reviewers")["reviewers"]:
        for action, number in person["actions"].items():
            counts["person", person["person"], action] = number
    return +counts


def export_runs(client: httpx.Client) -> list[ExportedRun]:
    """Every run of the project, the server's own included."""
    return [
        ExportedRun(
            agent=run["agent"],
            model=run["model"],
            entries=_export_entries(client, run["id"]),
        )
        for agent in (None, *SYSTEM_AGENTS)
        for run in _list_runs(client, agent)
    ]


def _list_runs(client: httpx.Client, agent: str | None) -> Iterator[dict[str, Any]]:
    query: dict[str, Any] = {"limit": 200, **({"agent": agent} if agent else {})}
    while True:
        page = client.get("/runs", params=query).json()
        yield from page["items"]
        if page["next_cursor"] is None:
            return
        query["cursor"] = page["next_cursor"]


def _export_entries(client: httpx.Client, run: str) -> list[Entry]:
    answer = client.get(f"/runs/{run}/ledger")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.splitlines()]
