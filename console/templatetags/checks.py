"""What people's side adds to the page of a run, which the ledger draws."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext
from django.utils import timezone

from console.runs.checks import run_checks_of
from ledger.models import Run

register = template.Library()


@register.inclusion_tag("console/runs/_run_checks.html", takes_context=True)
def run_checks(context: RequestContext, run: Run) -> dict[str, Any]:
    """The gate checks of this run, and its warnings with a button for each."""
    return {
        "checks": run_checks_of(run, slug=context["slug"], at=timezone.now()),
        "csrf_token": context.get("csrf_token"),
    }
