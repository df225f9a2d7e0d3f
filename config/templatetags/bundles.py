"""The head of a page: one request for its styles and one for its scripts."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.conf import settings
from django.template.base import NodeList, Parser, Token
from django.template.context import Context
from django.utils.safestring import SafeString, mark_safe

from config.server.bundles import get_assets, get_bundles
from config.server.page_files import parse_head

register = template.Library()


class BundleNode(template.Node):
    def __init__(self, nodelist: NodeList) -> None:
        self.nodelist = nodelist

    def render(self, context: Context) -> SafeString:
        head = self.nodelist.render(context)
        return join_files(head) if settings.BUNDLES else head


@register.tag
def bundle(parser: Parser, _token: Token) -> BundleNode:
    """What stands between it and `endbundle` may ask for many files, and asks for two."""
    nodelist = parser.parse(("endbundle",))
    parser.delete_first_token()
    return BundleNode(nodelist)


@lru_cache(maxsize=256)
def join_files(text: str) -> SafeString:
    """Pages of one kind have the same head."""
    assets, bundles = get_assets(), get_bundles()
    head = parse_head(text, assets.get_name)
    parts = [head.rest]
    if head.styles:
        url = assets.get_url(bundles[head.styles].name)
        parts.insert(0, f'<link rel="stylesheet" href="{url}">')
    if head.scripts:
        url = assets.get_url(bundles[head.scripts].name)
        parts.append(f'<script src="{url}" defer></script>')
    return mark_safe("\n    ".join(parts))  # noqa: S308 - a template's own text
