"""The pages whose times are measured, each with its filters, orders, tabs and pages."""

from __future__ import annotations

from urllib.parse import quote

# What the query box of the run list is asked for.
_QUERIES = (
    *("agent:agent-3", "status:active", "status:final", "status:abandoned"),
    *("model:small-model", "label:repo=shop", "label:repo", "cost>5", "steps<60"),
    *("time>1h", "since:7d", "since:1d", "accepted:no", "accepted:yes", "intent:docs"),
    *("policy:default@2", "race", "nothinglikethis", "{word}", "race deadlock"),
    *("agent:agent-3 label:repo=shop cost>1 since:30d", "label:repo=shop race"),
)
_SORTS = ("-cost", "cost", "-tokens", "-steps", "-time", "started")
_TABS = ("stopped", "completed", "failed", "aborted")
_RULINGS = (
    *("period=24h", "period=7d", "period=90d", "period=month", "period=all"),
    *("by=reviewer-1", "action=deny", "agent=agent-3", "kind=confirmation"),
    *("severity=high", "rule=sys.delete_tree", "rule=destructive*", "label=repo:shop"),
    *("faster_than_ms=3000", "regretted=true", "q=build", "q=nothinglikethis"),
    *("sort=oldest", "sort=slowest", "sort=fastest", "period=all&action=approve"),
    "period=all&q=rm",
)
_TIMELINE = (
    *("show=decisions", "show=calls", "show=reviews", "show=notes", "q=fixture"),
    *("q=nothinglikethis", "order=oldest", "before=2500", "before=101"),
)


def list_addresses(*, slug: str, run: str, word: str) -> list[str]:
    """`run` is the one with most steps; `word` finds a single run."""
    project = f"/p/{slug}"
    runs = [
        *(f"?q={quote(query.format(word=word))}" for query in _QUERIES),
        *(f"?q=status:{tab}" for tab in _TABS),
        *(f"?sort={sort}" for sort in _SORTS),
        *(f"?q={quote(_QUERIES[0])}&sort={sort}" for sort in _SORTS[:2]),
        *(f"?q={quote('label:repo=shop')}&sort={sort}" for sort in _SORTS[:2]),
        "?q=race&sort=-cost",
    ]
    return [
        f"{project}/queue/",
        *(f"{project}/overview/?period={span}" for span in ("24h", "7d", "30d", "90d")),
        f"{project}/overview/?of=calls",
        *(f"{project}/runs/{asked}" for asked in ("", *runs)),
        f"{project}/runs.csv",
        f"{project}/runs.csv?q=race&sort=-cost",
        f"{project}/rulings/",
        *(f"{project}/rulings/?{asked}" for asked in _RULINGS),
        f"{project}/runs/{run}/",
        *(f"{project}/runs/{run}/?{asked}" for asked in _TIMELINE),
        f"{project}/runs/{run}/calls/",
        f"{project}/runs/{run}/entries/2500/",
    ]
