"""Words for what holds for runs and their steps, reviews, and how much may be open."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words
from guidance.core.policy.words.reviews import REVIEWS

_OPEN = {
    "open_reviews": Words(
        "Open reviews",
        "Reviews that wait for a person. On top of it a call that needs one is blocked, "
        "and a step that would pause stops.",
    ),
    "open_runs": Words("Open runs", "Runs that are running or paused."),
    "notes": Words("Notes", "Notes to the loop that wait to be worked through."),
    "recommendations": Words(
        "Recommendations", "Recommendations that wait to be adopted or dismissed."
    ),
}

RUNS = {
    "budget": Words("Budget", "What a run may use where it brings no budget itself."),
    "budget.tokens": Words("Tokens", "Of all steps; null is no limit.", "tokens"),
    "budget.tool_calls": Words(
        "Tool calls", "Granted or reported; null is no limit.", "calls"
    ),
    "budget.time_ms": Words(
        "Time",
        "While it runs, or as reported, whichever is more; null is no limit.",
        "ms",
    ),
    "budget.cost_usd": Words(
        "Cost", "What the steps cost, as reported; null is no limit.", "USD"
    ),
    "budget_ceiling": Words(
        "Budget ceiling",
        "The most that an agent may ask for when it starts a run; left out: the budget.",
    ),
    **{
        f"budget_ceiling.{name}": Words(
            label, "null is no limit.", unit, default_from=f"budget.{name}"
        )
        for name, label, unit in (
            ("tokens", "Tokens", "tokens"),
            ("tool_calls", "Tool calls", "calls"),
            ("time_ms", "Time", "ms"),
            ("cost_usd", "Cost", "USD"),
        )
    },
    "continue": Words("Steps", "When an agent may go on after a step."),
    "continue.max_consecutive_steps": Words(
        "Steps without a checkpoint", "More of them stop the run.", "steps"
    ),
    "continue.checkpoint_interval_steps": Words(
        "Checkpoint interval",
        "A checkpoint is due after so many; at most max_consecutive_steps.",
        "steps",
    ),
    "continue.min_coherence": Words("Coherence floor", "A lower score stops.", "score"),
    "continue.max_uncertainty": Words(
        "Uncertainty limit", "A higher score pauses.", "score"
    ),
    "continue.max_rework_ratio": Words(
        "Rework limit",
        "A larger share of the window that redoes earlier work pauses.",
        "share",
    ),
    "continue.rework_window": Words(
        "Rework window", "The share is that of so many last steps.", "steps"
    ),
    "continue.rework_min_steps": Words(
        "Rework from",
        "Fewer steps are not judged; at most rework_window.",
        "steps",
    ),
    "continue.max_budget_slope": Words(
        "Growth limit", "Tokens that grow faster from step to step throttle.", "share"
    ),
    "continue.slope_window": Words(
        "Growth window", "The growth is that of so many last steps.", "steps"
    ),
    "continue.slope_min_points": Words(
        "Growth from", "Fewer steps are not judged; at most slope_window.", "steps"
    ),
    "continue.throttle_base_ms": Words(
        "First delay",
        "Doubled with each throttle in a row; at most throttle_max_ms.",
        "ms",
    ),
    "continue.throttle_max_ms": Words("Longest delay", "No delay is longer.", "ms"),
    "continue.throttle_ignore_limit": Words(
        "Ignored delays", "So many in a row that are not waited out pause.", "times"
    ),
    "continue.repeat_limit": Words(
        "Repetitions",
        "The same step, turn or cycle so many times in a row pauses.",
        "times",
    ),
    "reviews": Words("Reviews", "How long a review waits, and how it ends then."),
    "reviews.expires_after_s": Words(
        "Waits for a person", "Later rulings are refused.", "s"
    ),
    "reviews.on_expiry": Words(
        "When nobody rules",
        "How the run ends; an action of the loop is denied instead.",
    ),
    "reviews.rulings_from_agents": Words(
        "Rulings from agents",
        "Whether a person's token may rule from inside an agent's session.",
    ),
    "reviews.refuse_own_agents": Words(
        "Refuse own agents",
        "Whether it may not even then for an agent of that person, or of that session.",
    ),
    **REVIEWS,
    "runs": Words("Silent runs", "When a run that reports nothing any more ends."),
    "runs.abandon_after_s": Words(
        "Abandoned after", "A running run that reports nothing for so long ends.", "s"
    ),
    "checks": Words("Gate checks", "How often a check may begin anew."),
    "checks.max_resets": Words(
        "Retries by people",
        "How often a person may choose retry when all attempts are used up.",
        "times",
    ),
    "four_eyes": Words("Four eyes", "What takes several people."),
    "four_eyes.approvals": Words(
        "Approvals",
        "How many people approve a review to which one of the next three fits: never the "
        "owner of the agent, nor who has changed what is to run.",
        "people",
    ),
    "four_eyes.severity": Words(
        "Severities that need them", "Reviews that are as severe as this."
    ),
    "four_eyes.rules": Words(
        "Rules that need them",
        "Reviews that this rule or gate opened; a name, or its beginning and *.",
    ),
    "four_eyes.labels": Words(
        "Labels that need them", "Reviews of runs with one of these labels."
    ),
    "four_eyes.policy": Words(
        "A second manager for policies",
        "Whether a version comes into force only when a second manager approves it.",
    ),
    "limits": Words(
        "Shared limits",
        "What all runs of an agent or of the project may use together, by day and month in UTC.",
    ),
    **{
        f"limits.{scope}": Words(label, text)
        for scope, label, text in (
            (
                "agent_day",
                "An agent a day",
                "All runs of one agent, from midnight UTC.",
            ),
            ("project_day", "The project a day", "All runs, from midnight UTC."),
            ("project_month", "The project a month", "All runs, from the first, UTC."),
        )
    },
    **{
        f"limits.{scope}.{name}": Words(label, "null is no limit.", unit)
        for scope in ("agent_day", "project_day", "project_month")
        for name, label, unit in (
            ("tokens", "Tokens", "tokens"),
            ("tool_calls", "Tool calls", "calls"),
            ("cost_usd", "Cost", "USD"),
        )
    },
    "limits.depth": Words(
        "Depth", "A run may have so many runs above it; null is no limit.", "runs"
    ),
    "limits.children": Words(
        "Children", "A run may start so many runs itself; null is no limit.", "runs"
    ),
    "prices": Words(
        "Prices",
        "What models cost; of a model without a price no cost is known.",
    ),
    "prices.models": Words(
        "Models", "Prices by the model's name, or its beginning and a star."
    ),
    **{
        f"prices.models.*.{name}_usd": Words(label, text, "USD")
        for name, label, text in (
            ("input", "Input", "For a million tokens sent."),
            ("output", "Output", "For a million tokens answered, thinking included."),
            (
                "cached_input",
                "Cached input",
                "For a million tokens read from the cache; left out: as other input.",
            ),
            (
                "cache_write",
                "Cache writes",
                "For a million tokens put into the cache; left out: as other input.",
            ),
        )
    },
    "caps": Words(
        "Caps",
        "How much may be open at once. Read from the policy default, for all runs.",
    ),
    **{f"caps.{name}": words for name, words in _OPEN.items()},
    **{
        f"caps.{name}.{scope}": Words(label, "null is no limit.")
        for name in _OPEN
        for scope, label in (("agent", "An agent"), ("project", "The project"))
    },
    **{
        f"caps.{name}.project_per_agent": Words(
            "The project, for each agent",
            "A project with many agents may have so many for each of them, where that "
            "is more; 0 is none.",
        )
        for name in _OPEN
    },
    "caps.open_reviews.critical_share": Words(
        "Kept for critical reviews",
        "This share of the project's cap is for critical reviews alone.",
        "share",
    ),
}
