"""The one way to render a fragment: a page and the socket send the same strings.

A fragment knows no viewer (no user, no CSRF token, no chosen filter): it is rendered
once and sent to everybody. What depends on the viewer is settled on their screen, or
fetched over HTTP. The detail pane is the one exception and never travels by socket.
"""

from __future__ import annotations

from django.template.loader import get_template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe


def render_fragment(template: str, **context: object) -> SafeString:
    return SafeString(get_template(template).render(context))


def build_partial(target: str, swap: str, *content: str) -> SafeString:
    """One part of a message: where it goes and how it is put there."""
    inside = mark_safe("".join(content))  # noqa: S308 (rendered fragments only)
    return format_html(
        '<hx-partial hx-target="{}" hx-swap="{}">{}</hx-partial>', target, swap, inside
    )
