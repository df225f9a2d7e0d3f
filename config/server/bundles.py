"""One stylesheet and one script for each page, made of its files when a server starts.

Pages that ask for the same files share a bundle. Nothing is taken out of the files, so
that what a browser shows of a bundle can be read.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from functools import cache

from django.conf import settings

from config.server.assets import Asset, Assets, load_assets
from config.server.page_files import File, Files, Head, list_heads

_IMPORT = re.compile(
    r'^import (?:\{(?P<names>\s*\w+(?:,\s*\w+)*,?\s*)\} from )?"(?P<path>[^"]+)";$',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?P<what>(?:async )?function |const )(?P<name>\w+)", re.MULTILINE
)
# What would be neither of them, and is not understood.
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport(?:\(|\.meta)", re.MULTILINE)
# In a stylesheet: what names a file that would be looked for beside the bundle.
_BESIDE = re.compile(r'@import\b.*|\burl\((?!"(?:/|data:)).*')

Bundles = Mapping[Files, Asset]


@cache
def get_assets() -> Assets:
    """All files, and what is made of them."""
    files = _load_files()
    made = {bundle.name: bundle for bundle in get_bundles().values()}
    return Assets({**files.all, **made})


@cache
def get_bundles() -> Bundles:
    return build_bundles(_load_files(), list_heads(settings.ROOT / "templates"))


@cache
def _load_files() -> Assets:
    return load_assets(settings.ROOT / "static")


def build_bundles(assets: Assets, heads: Mapping[str, Head]) -> Bundles:
    """A bundle is named by the page with the shortest name that asks for it."""
    bundles: dict[Files, Asset] = {}
    for name in sorted(heads, key=lambda each: (len(each), each)):
        stem = f"bundles/{name.removesuffix('.html').replace('/', '-')}"
        head = heads[name]
        if head.styles and head.styles not in bundles:
            text = "".join(_join_styles(assets, head.styles))
            bundles[head.styles] = Asset(f"{stem}.css", text.encode())
        if head.scripts and head.scripts not in bundles:
            text = "".join(_join_scripts(assets, head.scripts))
            bundles[head.scripts] = Asset(f"{stem}.js", text.encode())
    return bundles


def _join_styles(assets: Assets, files: Files) -> Iterator[str]:
    for file in files:
        text = assets[file.name].body.decode()
        _refuse(_BESIDE, file.name, text)
        yield f"/* {file.name} */\n"
        yield f"@media {file.media} {{\n{text}}}\n" if file.media else text


def _join_scripts(assets: Assets, files: Files) -> Iterator[str]:
    """Others' files as they are, then ours: each a function, what it imports before it."""
    ours = [file for file in files if not file.name.startswith("vendor/")]
    licences: set[str] = set()
    for file in files:
        if file in ours:
            continue
        licence = f"{posixpath.dirname(file.name)}/LICENSE"
        if licence not in licences:
            licences.add(licence)
            yield f"/*! {licence}\n{assets[licence].body.decode()}*/\n"
        yield f"// {file.name}\n{assets[file.name].body.decode()};\n"
    yield "{\n"
    yield from _join_modules(assets, ours, set())
    yield "}\n"


def _join_modules(assets: Assets, files: list[File], before: set[str]) -> Iterator[str]:
    for file in files:
        if file.name in before:
            continue
        before.add(file.name)
        text = assets[file.name].body.decode()
        wanted = [
            File(assets.get_name(found["path"])) for found in _IMPORT.finditer(text)
        ]
        yield from _join_modules(assets, wanted, before)
        yield _wrap_module(assets, file.name, text)


def _wrap_module(assets: Assets, name: str, text: str) -> str:
    def take_over(found: re.Match[str]) -> str:
        names = found["names"]
        module = _get_variable(assets.get_name(found["path"]))
        return f"const {{{names}}} = {module};" if names else ""

    exported = [found["name"] for found in _EXPORT.finditer(text)]
    text = _EXPORT.sub(r"\g<what>\g<name>", _IMPORT.sub(take_over, text))
    _refuse(_OTHER, name, text)
    return (
        f'// {name}\nconst {_get_variable(name)} = (() => {{\n"use strict";\n{text}'
        f"return {{ {', '.join(exported)} }};\n}})();\n"
    )


def _get_variable(name: str) -> str:
    return "$" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _refuse(unknown: re.Pattern[str], name: str, text: str) -> None:
    found = unknown.search(text)
    if found:
        raise ValueError(f"{name} cannot be part of a bundle: {found[0]}")
