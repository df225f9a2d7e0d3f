"""Every file for browsers, in memory, by a name that changes with what is in it.

No collect step stands between clone and console: some 500 kB are read when a server
starts. What a file refers to is known first, so that it names these by their new names.
"""

from __future__ import annotations

import gzip
import hashlib
import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from mimetypes import guess_type
from pathlib import Path

from django.conf import settings

# What stands between the stem and the ending of a name.
_DIGEST = re.compile(r"(?P<stem>.+)\.(?P<digest>[0-9a-f]{12})(?P<ending>\.[a-z0-9]+)")
_REFERENCES = {
    ".css": re.compile(r'(?<=url\(")(?P<name>[^":]+)(?="\))'),
    ".js": re.compile(
        r'^(?P<before>import .*?")(?P<name>\./[^"]+)(?=";$)', re.MULTILINE
    ),
}
_TYPES = {".js": "text/javascript", ".woff2": "font/woff2"}


@dataclass(frozen=True)
class Asset:
    """One file: its name in the folder, and what it holds."""

    name: str
    body: bytes

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()[:12]

    @cached_property
    def hashed_name(self) -> str:
        stem, ending = posixpath.splitext(self.name)
        return f"{stem}.{self.digest}{ending}" if ending else self.name

    @cached_property
    def content_type(self) -> str:
        ending = posixpath.splitext(self.name)[1]
        kind = _TYPES.get(ending) or guess_type(self.name)[0] or "text/plain"
        return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind

    @property
    def is_text(self) -> bool:
        return self.content_type.startswith("text/") or self.name.endswith(".svg")

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.body, mtime=0)


@dataclass(frozen=True, slots=True)
class Found:
    """`is_exact`: by the name that only this content has."""

    asset: Asset
    is_exact: bool


class Assets:
    def __init__(self, assets: Mapping[str, Asset]) -> None:
        self.all = assets

    def __getitem__(self, name: str) -> Asset:
        return self.all[name]

    def get_url(self, name: str) -> str:
        return f"{settings.STATIC_URL}{self.all[name].hashed_name}"

    def get_name(self, url: str) -> str:
        found = self.find(url)
        if found is None:
            raise KeyError(url)
        return found.asset.name

    def find(self, path: str) -> Found | None:
        """By a plain name, the name of today, or one from before or after an upgrade:
        another process may have made the page, and it needs some file of that name."""
        name = path.removeprefix(settings.STATIC_URL)
        if name == path:
            return None
        if name in self.all:
            return Found(self.all[name], is_exact=False)
        parts = _DIGEST.fullmatch(name)
        asset = self.all.get(f"{parts['stem']}{parts['ending']}") if parts else None
        if parts is None or asset is None:
            return None
        return Found(asset, is_exact=parts["digest"] == asset.digest)


def find_source(folder: Path, path: str) -> Found | None:
    """The file itself, as it is now: for who works on it."""
    name = path.removeprefix(settings.STATIC_URL)
    file = None if name == path else _list_files(folder).get(name)
    return Found(Asset(name, file.read_bytes()), is_exact=False) if file else None


def load_assets(folder: Path) -> Assets:
    paths = _list_files(folder)
    assets: dict[str, Asset] = {}
    for name in paths:
        _load(name, paths, assets)
    return Assets(assets)


def _list_files(folder: Path) -> dict[str, Path]:
    """By their names: what is asked for is looked up, and never made a path of."""
    return {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _load(
    name: str, paths: Mapping[str, Path], assets: dict[str, Asset], *within: str
) -> Asset:
    """What it refers to first; a file that is not there, or a circle, is a mistake."""
    if name in within:
        raise ValueError(f"Files for browsers refer to each other: {', '.join(within)}")
    if name not in assets:
        body = paths[name].read_bytes()
        pattern = _REFERENCES.get(posixpath.splitext(name)[1])
        if pattern is not None and not name.startswith("vendor/"):

            def rename(match: re.Match[str]) -> str:
                beside = posixpath.dirname(name)
                wanted = posixpath.normpath(posixpath.join(beside, match["name"]))
                found = _load(wanted, paths, assets, name, *within)
                before = match.groupdict().get("before", "")
                return f"{before}{settings.STATIC_URL}{found.hashed_name}"

            body = pattern.sub(rename, body.decode()).encode()
        assets[name] = Asset(name, body)
    return assets[name]
