"""The banner that every page of a project has while something is halted."""

from __future__ import annotations

from django.utils.safestring import SafeString

from console.fragments import render_fragment
from console.halts.rows import HaltRow


def render_banner(rows: list[HaltRow], *, slug: str) -> SafeString:
    return render_fragment("console/halts/_banner.html", halts=rows, slug=slug)
