"""Every address of the console, under one namespace: `console:<page>`.

A list is named by its plural, one thing by its singular, and what is done to it by
`<thing>-<verb>`. Names of the loop's pages begin with `loop-`.
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from console.account import addresses, joining, passwords
from console.gates import views as gates
from console.gateway_report import views as gateway_report
from console.halts import views as halts
from console.introduction import views as introduction
from console.ledger import views as ledger
from console.limits import halting as limit_halts
from console.limits import views as limits
from console.loop import actions as loop_actions
from console.loop import views as loop
from console.notices import views as notices
from console.overview import views as overview
from console.palette import views as palette
from console.permissions import views as permissions
from console.policies import actions as policy_actions
from console.policies import assignments, new_policy
from console.policies import editor as policy_editor
from console.policies import views as policies
from console.policies.backtest import exports as backtest_exports
from console.policies.backtest import views as backtests
from console.policies.shadow import views as shadows
from console.queue import actions as queue_actions
from console.queue import agent_reviews
from console.queue import saved as queue_views
from console.queue import views as queue
from console.queue.decided import views as decided
from console.queue.selection import views as selection
from console.rulings import views as rulings
from console.runs import actions as run_actions
from console.runs import replay as run_replay
from console.runs import views as runs
from console.runs.calls import views as run_calls
from console.runs.compare import views as run_compare
from console.runs.entries import views as run_entries
from console.runs.list import saved as saved_views
from console.runs.list import views as run_list
from console.settings import views as settings
from console.settings.agents import views as settings_agents
from console.settings.keyboard import views as keyboard
from console.settings.notifications import views as notifications
from console.settings.people import views as people
from console.settings.project import views as project
from console.settings.start import views as start
from console.settings.you import views as you
from console.suggestions import views as suggestions
from console.webhooks import views as webhooks

_review = [
    path("", queue.review, name="review"),
    path("rule/", queue_actions.rule, name="review-rule"),
    path("send/", queue_actions.send, name="review-send"),
    path("take-back/", queue_actions.take_back, name="review-take-back"),
    path("amend/", queue_actions.amend, name="review-amend"),
    path("page/", queue_actions.page, name="review-page"),
    path("claim/", queue_actions.claim, name="review-claim"),
    path("release/", queue_actions.release, name="review-release"),
    path("assign/", queue_actions.assign, name="review-assign"),
    path("snooze/", queue_actions.snooze, name="review-snooze"),
    path("agent/", queue.agent_wait, name="review-agent-wait"),
    path("disallow/", queue_actions.disallow, name="review-disallow"),
    path("delivery/", decided.delivery, name="review-delivery"),
    path("comment/", queue_actions.comment, name="review-comment"),
]

_run = [
    path("", runs.run, name="run"),
    path("abort/", run_actions.abort, name="run-abort"),
    path("calls/", run_calls.calls, name="run-calls"),
    path("entries/<int:seq>/", run_entries.entry, name="run-entry"),
    path("verify/", runs.verify, name="run-verify"),
    path("note/", run_actions.add_note, name="run-note"),
    path("tell/", run_actions.tell_agent, name="run-tell"),
    path("replay/", run_replay.replay, name="run-replay"),
    path("reopen/", run_actions.reopen, name="run-reopen"),
    path(
        "allowances/<uuid:allowance>/revoke/",
        run_actions.revoke,
        name="allowance-revoke",
    ),
    path(
        "warnings/<uuid:warning>/acknowledge/",
        run_actions.acknowledge,
        name="warning-acknowledge",
    ),
]

_webhook = [
    path("", webhooks.webhook, name="webhook"),
    path("<slug:action>/", webhooks.act, name="webhook-act"),
    path("resend/<uuid:delivery>/", webhooks.resend, name="delivery-resend"),
]

_policy = [
    path("", policies.policy, name="policy"),
    path("versions/<int:number>/", policies.policy_version, name="policy-version"),
    path(
        "versions/<int:number>/activate/",
        policy_actions.activate,
        name="policy-version-activate",
    ),
    path(
        "versions/<int:number>/backtest/",
        policy_actions.try_version,
        name="policy-version-backtest",
    ),
    path("versions/<int:number>/shadow/", shadows.start, name="policy-version-shadow"),
    path("compare/", policies.compare, name="policy-compare"),
    path("suggestions/", suggestions.suggestions, name="policy-suggestions"),
    path("suggestions/search/", suggestions.search, name="policy-suggestions-search"),
    path("suggestions/draft/", suggestions.draft, name="policy-suggestion-draft"),
    path(
        "suggestions/<str:setting>/", suggestions.suggestion, name="policy-suggestion"
    ),
    path("edit/", policy_editor.edit, name="policy-edit"),
    path("edit/check/", policy_editor.check, name="policy-check"),
]

_loop = [
    path("", loop.decisions, name="loop-decisions"),
    path("decisions/<uuid:code>/", loop.decision, name="loop-decision"),
    path("recommendations/", loop.recommendations, name="loop-recommendations"),
    path(
        "recommendations/<uuid:code>/adopt/",
        loop_actions.close_recommendation,
        {"word": "adopt"},
        name="loop-recommendation-adopt",
    ),
    path(
        "recommendations/<uuid:code>/dismiss/",
        loop_actions.close_recommendation,
        {"word": "dismiss"},
        name="loop-recommendation-dismiss",
    ),
    path("notes/", loop.notes, name="loop-notes"),
    path("incidents/", loop.incidents, name="loop-incidents"),
    path(
        "incidents/<uuid:code>/resolve/",
        loop_actions.close_incident,
        name="loop-incident-resolve",
    ),
    path("week/", loop.week, name="loop-week"),
    path("pause/", loop_actions.switch_loop, {"to": "pause"}, name="loop-pause"),
    path("resume/", loop_actions.switch_loop, {"to": "resume"}, name="loop-resume"),
    path("wake/", loop_actions.wake, name="loop-wake"),
]

_agent = [
    path("change/", settings_agents.change, name="settings-agent-change"),
    path(
        "disable/",
        settings_agents.switch,
        {"to": "disable"},
        name="settings-agent-disable",
    ),
    path(
        "enable/",
        settings_agents.switch,
        {"to": "enable"},
        name="settings-agent-enable",
    ),
    path("keys/", settings_agents.make_key, name="settings-key-make"),
    path(
        "keys/<uuid:key>/revoke/",
        settings_agents.revoke_key,
        name="settings-key-revoke",
    ),
]

_settings: list[URLPattern | URLResolver] = [
    path("", settings.settings, name="settings"),
    path("changes/", settings.changes, name="settings-changes"),
    path("start/", start.start, name="settings-start"),
    path("start/agent/", start.make_agent, name="settings-start-agent"),
    path("people/", people.people, name="settings-people"),
    path("people/invite/", people.invite, name="settings-invite"),
    path("people/<uuid:code>/role/", people.change_role, name="settings-person-role"),
    path("people/<uuid:code>/remove/", people.remove, name="settings-person-remove"),
    path(
        "people/<uuid:code>/password/",
        people.password_link,
        name="settings-person-password",
    ),
    path(
        "people/invitations/<uuid:code>/send/",
        people.send_again,
        name="settings-invitation-send",
    ),
    path(
        "people/invitations/<uuid:code>/withdraw/",
        people.withdraw,
        name="settings-invitation-withdraw",
    ),
    path("project/", project.project, name="settings-project"),
    path("project/change/", project.change, name="settings-project-change"),
    path("project/make/", project.make, name="settings-project-make"),
    path("you/", you.you, name="settings-you"),
    path("you/profile/", you.store_profile, name="settings-profile"),
    path("you/address/", you.confirm_again, name="settings-address-again"),
    path("you/tokens/", you.make_token, name="settings-token-make"),
    path("you/tokens/<uuid:code>/", you.revoke_token, name="settings-token-revoke"),
    path("you/sign-out/", you.end_other_sign_ins, name="settings-sign-ins-end"),
    path("you/sign-ins/<uuid:code>/", you.end_sign_in, name="settings-sign-in-end"),
    path("notifications/", notifications.notifications, name="settings-notifications"),
    path(
        "notifications/change/",
        notifications.change,
        name="settings-notifications-change",
    ),
    path("notifications/test/", notifications.test, name="settings-notifications-test"),
    path("keyboard/", keyboard.keyboard, name="settings-keyboard"),
    path("keyboard/change/", keyboard.change, name="settings-keyboard-change"),
    path("keyboard/switch/", keyboard.switch, name="settings-keyboard-switch"),
    path("agents/", settings_agents.agents, name="settings-agents"),
    path("agents/new/", settings_agents.create, name="settings-agent-create"),
    path("agents/<uuid:code>/", include(_agent)),
]

_project: list[URLPattern | URLResolver] = [
    path("queue/", queue.queue, name="queue"),
    path("queue/views/", queue_views.save_view, name="queue-view-save"),
    path(
        "queue/views/<uuid:code>/remove/",
        queue_views.remove_view,
        name="queue-view-remove",
    ),
    path("queue/decided/", decided.decided_list, name="queue-decided"),
    path("queue/selection/", selection.summary, name="selection"),
    path("queue/selection/rule/", selection.rule, name="selection-rule"),
    path("queue/selection/send/", selection.send, name="selection-send"),
    path("queue/selection/take-back/", selection.take_back, name="selection-take-back"),
    path("queue/<uuid:code>/", include(_review)),
    path(
        "agents/<uuid:code>/reviews/", agent_reviews.agent_reviews, name="agent-reviews"
    ),
    path("overview/", overview.overview, name="overview"),
    path("newest/", notices.newest, name="newest-reviews"),
    path("palette/", palette.palette, name="palette"),
    path("runs/", run_list.runs, name="runs"),
    path("runs.csv", run_list.runs_csv, name="runs-csv"),
    path("runs/views/", saved_views.save_view, name="run-view-save"),
    path(
        "runs/views/<uuid:code>/remove/",
        saved_views.remove_view,
        name="run-view-remove",
    ),
    path("runs/compare/", run_compare.compare, name="run-compare"),
    path("runs/<uuid:code>/", include(_run)),
    path("rulings/", rulings.rulings, name="rulings"),
    path("glossary/", introduction.glossary, name="glossary"),
    path("introduction/end/", introduction.end_introduction, name="introduction-end"),
    path("gates/", gates.gates, name="gates"),
    path("policies/", policies.policies, name="policies"),
    path("new-policy/", new_policy.new_policy, name="policy-new"),
    path("assignments/", assignments.assignments, name="assignments"),
    path("policies/<str:name>/", include(_policy)),
    path("backtests/<uuid:code>/", backtests.backtest, name="backtest"),
    path("backtests/<uuid:code>/cancel/", backtests.cancel, name="backtest-cancel"),
    path("backtests/<uuid:code>/again/", backtests.run_again, name="backtest-again"),
    path(
        "backtests/<uuid:code>/items.csv",
        backtest_exports.export,
        {"form": "csv"},
        name="backtest-csv",
    ),
    path(
        "backtests/<uuid:code>/items.json",
        backtest_exports.export,
        {"form": "json"},
        name="backtest-json",
    ),
    path("backtests/<uuid:code>/publish/", backtests.publish, name="backtest-publish"),
    path("shadows/<uuid:code>/", shadows.shadow, name="shadow"),
    path("shadows/<uuid:code>/draft/", shadows.draft, name="shadow-draft"),
    path("shadows/<uuid:code>/stop/", shadows.stop, name="shadow-stop"),
    path("permissions/", permissions.permissions, name="permissions"),
    path(
        "permissions/<uuid:code>/revoke/", permissions.revoke, name="permission-revoke"
    ),
    path("halts/", halts.halts, name="halts"),
    path("halts/new/", halts.new_halt, name="halt-new"),
    path("halts/new/effect/", halts.effect, name="halt-effect"),
    path("halts/<uuid:code>/release/", halts.release, name="halt-release"),
    path("limits/", limits.limits, name="limits"),
    path("limits/raise/", limits.raise_limit, name="limit-raise"),
    path("limits/halt/", limit_halts.halt_at_limit, name="limit-halt"),
    path("gateway/", gateway_report.report, name="gateway-report"),
    path("gateway/draft/", gateway_report.draft, name="gateway-draft"),
    path("calls/<uuid:code>/exempt/", permissions.exempt, name="call-exempt"),
    path(
        "exemptions/<uuid:code>/revoke/",
        permissions.revoke_exemption,
        name="exemption-revoke",
    ),
    path("webhooks/", webhooks.webhooks, name="webhooks"),
    path("webhooks/add/", webhooks.add, name="webhook-add"),
    path("webhooks/<uuid:code>/", include(_webhook)),
    path("ledger/", ledger.ledger, name="ledger"),
    path("ledger/verify/", ledger.verify, name="ledger-verify"),
    path("loop/", include(_loop)),
    path("settings/", include(_settings)),
]

app_name = "console"
urlpatterns = [
    path("", queue.home, name="home"),
    path("join/<str:secret>/", joining.join, name="join"),
    path("address/<str:token>/", addresses.confirm, name="address"),
    path("password/", passwords.change_password, name="password"),
    path(
        "password/<uuid:code>/<str:token>/",
        passwords.use_password_link,
        name="password-link",
    ),
    path("p/<slug:slug>/", include(_project)),
]
