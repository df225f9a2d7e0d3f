"""Fields that a form has by names that only it knows."""

from __future__ import annotations

from collections.abc import Mapping

from django import template

register = template.Library()


@register.filter
def get_field(values: object, name: str) -> object:
    """What was typed into a field, or what is wrong with it; empty where nothing is."""
    return values.get(name, "") if isinstance(values, Mapping) else ""
