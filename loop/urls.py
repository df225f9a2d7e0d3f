"""Addresses of the system loop."""

from __future__ import annotations

from django.urls import path

from loop import action_views, views

app_name = "loop"
urlpatterns = [
    path("p/<slug:slug>/loop/", views.decisions, name="decisions"),
    path("p/<slug:slug>/loop/decisions/<uuid:code>/", views.decision, name="decision"),
    path(
        "p/<slug:slug>/loop/recommendations/",
        views.recommendations,
        name="recommendations",
    ),
    path(
        "p/<slug:slug>/loop/recommendations/<uuid:code>/adopt/",
        action_views.answer,
        {"word": "adopt"},
        name="recommendation-adopt",
    ),
    path(
        "p/<slug:slug>/loop/recommendations/<uuid:code>/dismiss/",
        action_views.answer,
        {"word": "dismiss"},
        name="recommendation-dismiss",
    ),
    path("p/<slug:slug>/loop/notes/", views.notes, name="notes"),
    path("p/<slug:slug>/loop/incidents/", views.incidents, name="incidents"),
    path(
        "p/<slug:slug>/loop/incidents/<uuid:code>/resolve/",
        action_views.resolve,
        name="incident-resolve",
    ),
    path("p/<slug:slug>/loop/week/", views.week, name="week"),
    path(
        "p/<slug:slug>/loop/pause/", action_views.switch, {"to": "pause"}, name="pause"
    ),
    path(
        "p/<slug:slug>/loop/resume/",
        action_views.switch,
        {"to": "resume"},
        name="resume",
    ),
    path("p/<slug:slug>/loop/wake/", action_views.wake, name="wake"),
]
