"""Icons: drawn once in `templates/icons.html`, used by their names."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, tone: str = "") -> SafeString:
    """Beside a text that says the same, so a screen reader skips it."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" c-{tone}" if tone else "",
        name,
    )
