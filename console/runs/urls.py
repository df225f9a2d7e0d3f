"""Addresses of runs."""

from __future__ import annotations

from django.urls import path

from console.runs import views

app_name = "ledger"
urlpatterns = [
    path("p/<slug:slug>/runs/", views.runs, name="runs"),
    path("p/<slug:slug>/runs/<uuid:code>/", views.run, name="run"),
]
