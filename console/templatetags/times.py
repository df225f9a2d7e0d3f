"""When something was, as a page tells it."""

from __future__ import annotations

from datetime import datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.format import ShownMoment, render_time

register = template.Library()


@register.simple_tag
def moment(when: ShownMoment, tick: str = "ago") -> SafeString:
    return render_time(when, tick)


@register.simple_tag
def absolute_time(iso: str) -> SafeString:
    """From `console.format.iso`. UTC, and says so; `static/js/times.js` puts it into the
    viewer's zone and leaves UTC to the hover."""
    at = datetime.fromisoformat(iso)
    return format_html(
        '<time class="at" datetime="{}" data-at title="{}">{}</time>',
        iso,
        f"{at:%Y-%m-%d %H:%M:%S} UTC",
        f"{at.day} {at:%b %H:%M:%S} UTC",
    )
