"""Addresses of runs and reviews, as people open them in a browser."""

from __future__ import annotations

from django.conf import settings


def run_url(*, project_slug: str, run: str) -> str:
    return f"{settings.PUBLIC_URL}/p/{project_slug}/runs/{run}/"


def review_url(*, project_slug: str, review: str) -> str:
    return f"{settings.PUBLIC_URL}/p/{project_slug}/queue/{review}/"
