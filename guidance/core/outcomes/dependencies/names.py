"""Names of dependencies behind their registry, such as pypi:requests."""

from __future__ import annotations

import re

PYPI, NPM, CRATES, GO, GEMS, COMPOSER, MAVEN, CONDA = (
    "pypi",
    "npm",
    "crates",
    "go",
    "gems",
    "composer",
    "maven",
    "conda",
)
_SEPARATORS = re.compile(r"[-_.]+")
_LONGEST = 200


def build_name(registry: str, name: str) -> str:
    """One spelling for one package, as the registry itself compares names."""
    bare = name.strip().casefold()
    if registry == PYPI:
        bare = _SEPARATORS.sub("-", bare)
    return f"{registry}:{bare}"[:_LONGEST]
