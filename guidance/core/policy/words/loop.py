"""Words for the system loop: what it may do by itself, and what holds it back."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words

_LEARNED = {
    "gate_skipped": Words("Skipped gates", "Checks of a gate that people skip."),
    "always_approved": Words("Approved calls", "Calls of a rule that are approved."),
    "runs_failed": Words("Failed runs", "Runs of an agent that fail."),
}
_CAPS = {
    "start_loop": "Loops started",
    "process_notes": "Notes processed",
    "apply_retro_recommendation": "Recommendations drafted",
    "emit_alert": "Alerts sent",
}

LOOP = {
    "loop": Words("System loop", "What it may do by itself, and what holds it back."),
    "loop.signals_from": Words("Signals", "What wakes the loop beside its clock."),
    "loop.signals_from.run_ends": Words("Ends of runs", "Whether they wake the loop."),
    "loop.signals_from.rulings": Words("Rulings", "Whether they wake the loop."),
    "loop.kinds": Words("Loops", "Loops that may be started."),
    "loop.kinds.*.name": Words("Name", "Small letters and digits: nightly-tests."),
    "loop.kinds.*.description": Words("Description", "What the loop does."),
    "loop.kinds.*.parameters": Words("Parameters", "Their JSON Schema."),
    "loop.kinds.*.destructive": Words(
        "Destructive",
        "Whether a person is asked first: always, never, or where a parameter fits a "
        "pattern.",
    ),
    "loop.kinds.*.destructive.*.parameter": Words("Parameter", "Its name."),
    "loop.kinds.*.destructive.*.pattern": Words(
        "Pattern", "A regular expression (RE2)."
    ),
    "loop.rules": Words("Rules", "The first that fits decides; else nothing is done."),
    "loop.rules.*.when": Words("When", "All of these have to fit."),
    "loop.rules.*.when.trigger": Words("Trigger", "What woke the loop: any of these."),
    "loop.rules.*.when.data": Words("Data", "What the signal says."),
    "loop.rules.*.when.snapshot": Words("Snapshot", "What the loop has counted."),
    "loop.rules.*.name": Words("Name", "Stands on the decision."),
    "loop.rules.*.do": Words("Do", "The action."),
    "loop.rules.*.kind": Words("Loop", "Which one start_loop starts."),
    "loop.rules.*.parameters": Words("Parameters", "What the action is given."),
    "loop.rules.*.reason": Words("Reason", "What people read."),
    "loop.heartbeat_s": Words("Heartbeat", "How often the clock wakes it.", "s"),
    "loop.min_gap_s": Words(
        "Rest",
        "The clock skips a look where the loop was woken less than this ago; at most "
        "heartbeat_s.",
        "s",
    ),
    "loop.decider": Words(
        "Decider", "Rules, a model, or both: shadow notes what a model would do."
    ),
    "loop.caps_per_hour": Words("Caps", "How often it may act within an hour."),
    **{
        f"loop.caps_per_hour.{action}": Words(label, "0 is never.", "times")
        for action, label in _CAPS.items()
    },
    "loop.cost_per_day_usd": Words(
        "Cost of a model", "Within a day (UTC); null is no limit.", "USD"
    ),
    "loop.cascade_limit": Words(
        "Cascade", "So many decisions may follow from one event.", "times"
    ),
    "loop.dedupe_s": Words(
        "Same again",
        "The same loop is not started for the same trigger and state within so long.",
        "s",
    ),
    "loop.stale_after_s": Words(
        "Stale after", "A decision on an older look is thrown away.", "s"
    ),
    "loop.notes_at_once": Words("Notes at once", "So many are taken together."),
    "loop.note_claim_s": Words(
        "A note is held", "Then somebody else may take it.", "s"
    ),
    "loop.learn": Words("Learning", "When counted facts become recommendations."),
    "loop.learn.recommend": Words("In use", "Whether it recommends at all."),
    "loop.learn.days": Words(
        "Looks back",
        "And an answered recommendation rests for as long.",
        "days",
    ),
    **{f"loop.learn.{name}": words for name, words in _LEARNED.items()},
    **{
        f"loop.learn.{name}.at_least": Words("At least", "Fewer say nothing.", "times")
        for name in _LEARNED
    },
    **{
        f"loop.learn.{name}.share": Words("Share", "This share of them.", "share")
        for name in _LEARNED
    },
}
