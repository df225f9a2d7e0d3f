"""Addresses of the queue, of gates, of standing permissions and of webhooks."""

from __future__ import annotations

from django.urls import path

from console.gates import views as gate_views
from console.permissions import views as permission_views
from console.queue import agent_reviews, views
from console.runs import actions, check_actions
from console.webhooks import views as webhook_views

app_name = "reviews"
urlpatterns = [
    path("", views.home, name="home"),
    path("p/<slug:slug>/queue/", views.queue, name="queue"),
    path("p/<slug:slug>/queue/<uuid:code>/", views.review, name="review"),
    path("p/<slug:slug>/queue/<uuid:code>/rule/", views.rule, name="rule"),
    path("p/<slug:slug>/queue/<uuid:code>/amend/", views.amend, name="amend"),
    path("p/<slug:slug>/queue/<uuid:code>/page/", views.page, name="page"),
    path("p/<slug:slug>/queue/<uuid:code>/claim/", views.claim, name="claim"),
    path("p/<slug:slug>/queue/<uuid:code>/release/", views.release, name="release"),
    path("p/<slug:slug>/queue/<uuid:code>/agent/", views.agent_wait, name="agent-wait"),
    path("p/<slug:slug>/queue/<uuid:code>/comment/", views.comment, name="comment"),
    path(
        "p/<slug:slug>/agents/<uuid:code>/reviews/",
        agent_reviews.agent_reviews,
        name="agent-reviews",
    ),
    path("p/<slug:slug>/runs/<uuid:code>/abort/", views.run_abort, name="run-abort"),
    path("p/<slug:slug>/runs/<uuid:code>/reopen/", actions.reopen, name="run-reopen"),
    path(
        "p/<slug:slug>/runs/<uuid:code>/warnings/<uuid:warning>/acknowledge/",
        check_actions.acknowledge,
        name="warning-acknowledge",
    ),
    path("p/<slug:slug>/gates/", gate_views.gates, name="gates"),
    path(
        "p/<slug:slug>/permissions/", permission_views.permissions, name="permissions"
    ),
    path(
        "p/<slug:slug>/permissions/<uuid:code>/revoke/",
        permission_views.revoke,
        name="permission-revoke",
    ),
    path("p/<slug:slug>/webhooks/", webhook_views.webhooks, name="webhooks"),
    path("p/<slug:slug>/webhooks/add/", webhook_views.add, name="webhook-add"),
    path("p/<slug:slug>/webhooks/<uuid:code>/", webhook_views.webhook, name="webhook"),
    path(
        "p/<slug:slug>/webhooks/<uuid:code>/<slug:action>/",
        webhook_views.act,
        name="webhook-act",
    ),
    path(
        "p/<slug:slug>/webhooks/<uuid:code>/resend/<uuid:delivery>/",
        webhook_views.resend,
        name="delivery-resend",
    ),
]
