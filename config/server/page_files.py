"""Which stylesheets and scripts each page asks for, read off the templates.

Every process has to know all of them at its start: the page may have come from another.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

BASE = "base.html"

_EXTENDS = re.compile(r'{% extends "([^"]+)" %}')
_BUNDLE = re.compile(r"{% bundle %}(.*?){% endbundle %}", re.DOTALL)
_BLOCK = re.compile(r"{% block (\w+) %}(.*?){% endblock %}", re.DOTALL)
_STATIC = re.compile(r"{% static '([^']+)' %}")
_STYLE = re.compile(
    r'<link rel="stylesheet" href="(?P<name>[^"]+)"(?: media="(?P<media>[a-z]+)")?>'
)
_SCRIPT = re.compile(r'<script src="(?P<name>[^"]+)"[^>]*></script>')
_PRELOAD = re.compile(r'<link rel="modulepreload" href="[^"]+">')


@dataclass(frozen=True, slots=True, order=True)
class File:
    name: str
    media: str = ""


Files = tuple[File, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """What the head of a page asks for, and the rest of it."""

    styles: Files
    scripts: Files
    rest: str


def parse_head(text: str, get_name: Callable[[str], str] = str) -> Head:
    """`get_name` makes the name of a file of what stands in the text."""
    styles = tuple(
        File(get_name(found["name"]), found["media"] or "")
        for found in _STYLE.finditer(text)
    )
    scripts = tuple(File(get_name(found["name"])) for found in _SCRIPT.finditer(text))
    for pattern in (_STYLE, _SCRIPT, _PRELOAD):
        text = pattern.sub("", text)
    return Head(styles, scripts, text.strip())


def list_heads(folder: Path) -> dict[str, Head]:
    """The head of each template that is a page, or that pages extend."""

    @cache
    def read(name: str) -> str:
        return (folder / name).read_text()

    def get_line(name: str) -> list[str]:
        """The template and those it extends, the last one first."""
        above = _EXTENDS.match(read(name))
        return [*get_line(above[1]), name] if above else [name]

    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*.html")]
    lines = {name: get_line(name) for name in sorted(names)}
    return {
        name: parse_head(_STATIC.sub(r"\1", _fill([read(each) for each in line])))
        for name, line in lines.items()
        if line[0] == BASE
    }


def _fill(sources: list[str]) -> str:
    """The bundle of the first, its blocks filled by those that extend it."""
    head = _BUNDLE.findall(sources[0])[0]
    blocks = dict(_BLOCK.findall(head))
    for source in sources[1:]:
        for name, text in _BLOCK.findall(source):
            if name in blocks:
                blocks[name] = text.replace("{{ block.super }}", blocks[name])
    return _BLOCK.sub(lambda block: blocks[block[1]], head)
