"""A build backend for pip without an index: it packs `client/` as its project file says.

It stands in for setuptools, which pip would fetch, under that name.
"""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path
from typing import Any


def build_wheel(
    wheel_directory: str,
    config_settings: Any = None,
    metadata_directory: str | None = None,
) -> str:
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    name = f"{project['name']}-{project['version']}"
    head = ["Metadata-Version: 2.1", f"Name: {project['name']}"]
    head += [f"Version: {project['version']}"]
    head += [f"Requires-Dist: {each}" for each in project["dependencies"]]
    for extra, needed in project["optional-dependencies"].items():
        head.append(f"Provides-Extra: {extra}")
        head += [f"Requires-Dist: {each} ; extra == '{extra}'" for each in needed]
    scripts = [f"{name} = {place}" for name, place in project["scripts"].items()]
    files = {
        "METADATA": head,
        "WHEEL": ["Wheel-Version: 1.0", "Root-Is-Purelib: true", "Tag: py3-none-any"],
        "entry_points.txt": ["[console_scripts]", *scripts],
        "RECORD": [],
    }
    wheel = f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory, wheel), "w") as packed:
        for path in sorted(Path("checkrail").rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                packed.write(path)
        for file, lines in files.items():
            packed.writestr(f"{name}.dist-info/{file}", "\n".join([*lines, ""]))
    return wheel
