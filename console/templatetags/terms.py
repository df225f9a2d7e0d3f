"""Odd words lead to what they mean."""

from __future__ import annotations

from django import template
from django.template.context import RequestContext
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import slugify

from console.introduction.terms import find_term

register = template.Library()


@register.simple_tag(takes_context=True)
def term(context: RequestContext, words: str) -> SafeString | str:
    """The words themselves; where one of them is ours, its meaning is a click or a look
    away. Needs `slug`, which fragments sent to everybody may not have."""
    found, slug = find_term(words), context.get("slug")
    if found is None or not slug:
        return words
    name, meaning = found
    return format_html(
        '<a class="term" href="{}#{}" title="{}">{}</a>',
        reverse("console:glossary", args=[slug]),
        slugify(name),
        meaning,
        words,
    )
