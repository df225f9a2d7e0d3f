"""Every address of the console, under one namespace: `console:<page>`.

A list is named by its plural, one thing by its singular, and what is done to it by
`<thing>-<verb>`. Names of the loop's pages begin with `loop-`.
"""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from console.gates import views as gates
from console.gateway_report import views as gateway_report
from console.loop import actions as loop_actions
from console.loop import views as loop
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
from console.queue import views as queue
from console.runs import actions as run_actions
from console.runs import replay as run_replay
from console.runs import views as runs
from console.suggestions import views as suggestions
from console.webhooks import views as webhooks

_review = [
    path("", queue.review, name="review"),
    path("rule/", queue_actions.rule, name="review-rule"),
    path("amend/", queue_actions.amend, name="review-amend"),
    path("page/", queue_actions.page, name="review-page"),
    path("claim/", queue_actions.claim, name="review-claim"),
    path("release/", queue_actions.release, name="review-release"),
    path("agent/", queue.agent_wait, name="review-agent-wait"),
    path("comment/", queue_actions.comment, name="review-comment"),
]

_run = [
    path("", runs.run, name="run"),
    path("abort/", run_actions.abort, name="run-abort"),
    path("replay/", run_replay.replay, name="run-replay"),
    path("reopen/", run_actions.reopen, name="run-reopen"),
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

_project: list[URLPattern | URLResolver] = [
    path("queue/", queue.queue, name="queue"),
    path("queue/<uuid:code>/", include(_review)),
    path(
        "agents/<uuid:code>/reviews/", agent_reviews.agent_reviews, name="agent-reviews"
    ),
    path("runs/", runs.runs, name="runs"),
    path("runs/<uuid:code>/", include(_run)),
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
    path("loop/", include(_loop)),
]

app_name = "console"
urlpatterns = [
    path("", queue.home, name="home"),
    path("p/<slug:slug>/", include(_project)),
]
