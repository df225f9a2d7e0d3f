"""What a policy does, in sentences, by subject.

`{path}` stands for the value of a setting with its unit; `{path|yes|no}` for one of two
texts, where the setting is on or off.
"""

from __future__ import annotations

from collections.abc import Mapping

SENTENCES: Mapping[str, tuple[str, ...]] = {
    "Steps": (
        "Pauses when more than {continue.max_rework_ratio} of the last "
        "{continue.rework_window} redo earlier work, judged from "
        "{continue.rework_min_steps} on.",
        "Pauses when uncertainty is over {continue.max_uncertainty}, or the same step "
        "comes {continue.repeat_limit} in a row.",
        "Stops when coherence falls under {continue.min_coherence}, or after "
        "{continue.max_consecutive_steps} without a checkpoint.",
        "Asks for a checkpoint every {continue.checkpoint_interval_steps}.",
        "Slows down when tokens grow more than {continue.max_budget_slope} a step over "
        "the last {continue.slope_window}, judged from {continue.slope_min_points} on.",
        "A slowed run waits {continue.throttle_base_ms} first, then twice as long each "
        "time, at most {continue.throttle_max_ms}. It pauses when it does not wait "
        "{continue.throttle_ignore_limit} in a row.",
    ),
    "Budget": (
        "A run may use {budget.tokens}, {budget.tool_calls}, {budget.time_ms} and "
        "{budget.cost_usd}.",
        "Its agent may ask for {budget_ceiling.tokens}, {budget_ceiling.tool_calls}, "
        "{budget_ceiling.time_ms} and {budget_ceiling.cost_usd} at most.",
        "Prices of models, by which tokens become a cost: {prices.models}.",
    ),
    "Tool calls": (
        "{tools.allowlist.enabled|Only tools on the allowlist|All tools} may be called. "
        "On the allowlist: {tools.allowlist.tools}.",
        "Always asks a person before: {tools.confirm}. Asks every time, whatever was "
        "permitted: {tools.always_ask}.",
        "Rules that differ from the built-in ones: {tools.rules}. Own rules: "
        "{tools.patterns}.",
        "Notes edits of more than {tools.max_diff_lines}.",
        "An allowed call must begin within {tools.grant_expires_s}.",
        "A model {tools.first_look.enabled|looks first|does not look first} at calls that "
        "ask by these rules: {tools.first_look.rules}. It may settle: "
        "{tools.first_look.may}. {tools.first_look.blind_share} of what it looks at go to "
        "a person all the same. It answers within {tools.first_look.timeout_s}, to at "
        "most {tools.first_look.max_asked_per_day} and "
        "{tools.first_look.max_cost_usd_per_day} a day.",
        "Reads as shell commands: {tools.shell_arguments}; as SQL: "
        "{tools.sql_arguments}. Checks arguments by schema: {tools.schemas}.",
        "Folders that may be deleted without asking: {tools.disposable}.",
        "Repairs arguments of: {tools.lenient_arguments}. Answers again from a stored "
        "result: {tools.idempotent}.",
    ),
    "People": (
        "A review that nobody rules on ends after {reviews.expires_after_s}, and its run "
        "by {reviews.on_expiry}.",
        "A critical review is to be answered within "
        "{reviews.deadlines.severity.critical.answer_within_s}, a high one within "
        "{reviews.deadlines.severity.high.answer_within_s}, a medium one within "
        "{reviews.deadlines.severity.medium.answer_within_s}, a low one within "
        "{reviews.deadlines.severity.low.answer_within_s}; later it counts as late.",
        "A critical one ends after {reviews.deadlines.severity.critical.expires_after_s}, "
        "a high one after {reviews.deadlines.severity.high.expires_after_s}, a medium one "
        "after {reviews.deadlines.severity.medium.expires_after_s}, a low one after "
        "{reviews.deadlines.severity.low.expires_after_s}. Other times for kinds of "
        "reviews: {reviews.deadlines.kinds}.",
        "The time of a review "
        "{reviews.working_hours.enabled|stands still while nobody works|always runs}. "
        "Work is on {reviews.working_hours.days} from {reviews.working_hours.begin} to "
        "{reviews.working_hours.end}, {reviews.working_hours.zone}; holidays: "
        "{reviews.working_hours.holidays}.",
        "A paused run is {reviews.severity.kinds.pause}, a tool call "
        "{reviews.severity.kinds.confirmation}, a gate out of attempts "
        "{reviews.severity.kinds.exhausted}, a request {reviews.severity.kinds.request}, "
        "a question {reviews.severity.kinds.question}, an action of the loop "
        "{reviews.severity.kinds.loop_action}, a change of a policy "
        "{reviews.severity.kinds.policy_change}, a plan {reviews.severity.kinds.plan}, "
        "unless a rule or a gate says otherwise. An agent may ask for "
        "{reviews.severity.asked_at_most} at most.",
        "Severities of rules that differ from the built-in ones: "
        "{reviews.severity.rules}; of gates: {reviews.severity.gates}.",
        "A claim ends by itself {reviews.claim_lease_s} after its claimer last looked.",
        "Who approves a pause may let the run go on for up to "
        "{reviews.allowances.max_steps} or {reviews.allowances.max_minutes}: with an "
        "uncertainty of up to {reviews.allowances.max_uncertainty}, and rework of up to "
        "{reviews.allowances.max_rework_ratio}.",
        "A program {reviews.require_reasons|has|does not have} to say why it decides what "
        "is critical or denies what is high. In a browser what is "
        "{reviews.fresh_sign_in.severity} is approved only within "
        "{reviews.fresh_sign_in.within_s} of signing in.",
        "A person’s token {reviews.rulings_from_agents|may|may not} rule from inside an "
        "agent’s session, {reviews.refuse_own_agents|never|even} on agents of that "
        "person.",
        "Takes {four_eyes.approvals} to approve what is {four_eyes.severity}, what these "
        "rules ask about: {four_eyes.rules}, and runs with these labels: "
        "{four_eyes.labels}.",
        "Putting another version in force takes "
        "{four_eyes.policy|two managers|one manager}.",
        "When all attempts at a gate are used up, a person may send it back "
        "{checks.max_resets}.",
    ),
    "Limits": (
        "All runs of an agent may use {limits.agent_day.tokens}, "
        "{limits.agent_day.tool_calls} and {limits.agent_day.cost_usd} a day together.",
        "All runs of the project may use {limits.project_day.tokens}, "
        "{limits.project_day.tool_calls} and {limits.project_day.cost_usd} a day, "
        "{limits.project_month.tokens}, {limits.project_month.tool_calls} and "
        "{limits.project_month.cost_usd} a month.",
        "A run may start {limits.children}, and have {limits.depth} above it.",
        "An agent may have {caps.open_reviews.agent} open reviews and "
        "{caps.open_runs.agent} open runs; the project {caps.open_reviews.project} and "
        "{caps.open_runs.project}, or for each of its agents "
        "{caps.open_reviews.project_per_agent} and {caps.open_runs.project_per_agent}, "
        "where that is more. {caps.open_reviews.critical_share} of its open reviews are "
        "kept for critical ones.",
        "An agent may leave {caps.notes.agent} notes and {caps.recommendations.agent} "
        "recommendations waiting; the project {caps.notes.project} and "
        "{caps.recommendations.project}, or for each of its agents "
        "{caps.notes.project_per_agent} and {caps.recommendations.project_per_agent}.",
        "A run that reports nothing for {runs.abandon_after_s} counts as abandoned.",
    ),
    "End of a run": (
        "Judges every run when it finishes, by what was seen of it and what its agent "
        "reports.",
        "Tests: {evaluators.tests_pass.fails_run|a run whose tests fail ends as failed|"
        "failing tests are only noted}. Gates that speak about tests: "
        "{evaluators.tests_pass.gates}.",
        "Rework: at most {evaluators.diff_quality.max_rework_ratio} of the changed lines; "
        "more {evaluators.diff_quality.fails_run|fails the run|is only noted}.",
        "Violations: at most a weight of {evaluators.violation_rate.max_rate} for ten "
        "steps and calls; more "
        "{evaluators.violation_rate.fails_run|fails the run|is only noted}.",
        "Commands that must not run, even approved: "
        "{evaluators.forbidden_commands.commands}. One of them, or a destructive call "
        "that nobody approved, "
        "{evaluators.forbidden_commands.fails_run|fails the run|is only noted}.",
        "Dependencies that may be added: {evaluators.forbidden_dependencies.allow}. That "
        "must not be: {evaluators.forbidden_dependencies.deny}. Others "
        "{evaluators.forbidden_dependencies.fails_run|fail the run|are only noted}.",
    ),
    "Turns": (
        "Sends an agent on that stopped with a score of {turns.threshold} or more, "
        "{turns.max_retries} in a row at most; from {turns.warn_from} on it is noted.",
        "Knows unfinished work by {turns.intent_phrases}, finished work by "
        "{turns.completion_phrases}, a summary by {turns.summary_phrases}.",
        "Tells the agent: {turns.nudge}",
        "Other values for some models: {turns.models}.",
    ),
    "System loop": (
        "Wakes every {loop.heartbeat_s}, unless it was awake within {loop.min_gap_s}. "
        "Decides by {loop.decider}.",
        "Ends of runs {loop.signals_from.run_ends|wake it|do not wake it}, rulings "
        "{loop.signals_from.rulings|wake it|do not wake it}.",
        "In an hour it may start loops {loop.caps_per_hour.start_loop}, process notes "
        "{loop.caps_per_hour.process_notes}, draft recommendations "
        "{loop.caps_per_hour.apply_retro_recommendation} and send alerts "
        "{loop.caps_per_hour.emit_alert}.",
        "A model that decides may cost {loop.cost_per_day_usd} a day.",
        "Acts on one event {loop.cascade_limit} at most. Starts no loop again within "
        "{loop.dedupe_s}, and drops a decision after {loop.stale_after_s}.",
        "Takes {loop.notes_at_once} notes at once and holds each for "
        "{loop.note_claim_s}.",
        "{loop.learn.recommend|Recommends|Does not recommend} changes from what it "
        "counted in {loop.learn.days}.",
        "Counts skipped gates from {loop.learn.gate_skipped.at_least} and "
        "{loop.learn.gate_skipped.share} on, approved calls from "
        "{loop.learn.always_approved.at_least} and {loop.learn.always_approved.share}, "
        "failed runs from {loop.learn.runs_failed.at_least} and "
        "{loop.learn.runs_failed.share}.",
        "Loops it may start: {loop.kinds}. Rules it decides by: {loop.rules}.",
    ),
}
