"""URLs of the loop's pages."""

from __future__ import annotations

from django.urls import path

from console.loop import actions, views

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
        actions.close_recommendation,
        {"word": "adopt"},
        name="recommendation-adopt",
    ),
    path(
        "p/<slug:slug>/loop/recommendations/<uuid:code>/dismiss/",
        actions.close_recommendation,
        {"word": "dismiss"},
        name="recommendation-dismiss",
    ),
    path("p/<slug:slug>/loop/notes/", views.notes, name="notes"),
    path("p/<slug:slug>/loop/incidents/", views.incidents, name="incidents"),
    path(
        "p/<slug:slug>/loop/incidents/<uuid:code>/resolve/",
        actions.close_incident,
        name="incident-resolve",
    ),
    path("p/<slug:slug>/loop/week/", views.week, name="week"),
    path(
        "p/<slug:slug>/loop/pause/", actions.switch_loop, {"to": "pause"}, name="pause"
    ),
    path(
        "p/<slug:slug>/loop/resume/",
        actions.switch_loop,
        {"to": "resume"},
        name="resume",
    ),
    path("p/<slug:slug>/loop/wake/", actions.wake, name="wake"),
]
