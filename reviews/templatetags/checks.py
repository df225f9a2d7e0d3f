"""What people's side adds to the page of a run, which the ledger draws."""

from __future__ import annotations

from typing import Any

from django import template
from django.template.context import RequestContext
from django.utils import timezone

from ledger.models import Run
from reviews.run_checks import run_checks_of

register = template.Library()


@register.inclusion_tag("reviews/partials/_run_checks.html", takes_context=True)
def run_checks(context: RequestContext, run: Run) -> dict[str, Any]:
    """The gate checks of this run, and its warnings with a button for each."""
    return {
        "checks": run_checks_of(run, slug=context["slug"], at=timezone.now()),
        "csrf_token": context.get("csrf_token"),
    }
