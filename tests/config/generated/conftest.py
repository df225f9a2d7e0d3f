"""The document as it is served, and the tools that read it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from tests.node.packages import install
from tests.support.live import Live


@pytest.fixture(scope="session")
def document(live: Live, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file: what a stranger would download."""
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_bytes(httpx.get(f"{live.api}/openapi.json", timeout=30).content)
    return path


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder where Node finds the packages."""
    (tmp_path / "node_modules").symlink_to(install() / "node_modules")
    return tmp_path
