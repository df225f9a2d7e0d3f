"""What the distribution needs, what importing it loads, and which Python it may use."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import checkrail
import pytest
from checkrail.cli.main import main

CLIENT = Path(__file__).resolve().parents[2] / "client"
# Modules that came after 3.10, and names that came after it in older ones.
LATER = {
    "tomllib": None,
    "typing": {"Self", "Never", "Unpack", "override", "assert_never", "reveal_type"},
    "enum": {"StrEnum", "verify", "ReprEnum"},
    "datetime": {"UTC"},
    "asyncio": {"timeout", "TaskGroup", "Runner", "Barrier"},
    "itertools": {"batched"},
}


def test_it_needs_httpx_and_nothing_else() -> None:
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    (only,) = project["dependencies"]
    assert only.startswith("httpx")
    assert project["requires-python"] == ">=3.10"
    assert set(project["optional-dependencies"]) >= {
        *("cli", "langgraph", "mcp", "openai-agents")
    }


def test_its_version_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    project = tomllib.loads((CLIENT / "pyproject.toml").read_text())["project"]
    assert checkrail.__version__ == project["version"]
    with pytest.raises(SystemExit) as done:
        main(["--version"])
    assert done.value.code == 0
    assert capsys.readouterr().out == f"checkrail {checkrail.__version__}\n"


def test_nobody_is_told_to_install_a_name_that_somebody_else_may_own() -> None:
    for path in (*(CLIENT / "checkrail").rglob("*.py"), *CLIENT.parent.glob("**/*.md")):
        if ".venv" not in path.parts:
            text = path.read_text(encoding="utf-8")
            assert "pip install checkrail" not in text, path
            assert "pip install 'checkrail" not in text, path


def test_importing_it_loads_nothing_heavy() -> None:
    """Not even the names people use first load a network library."""
    code = (
        "import sys, checkrail\n"
        "heavy = {'rich', 'asyncio', 'httpx', 'mcp', 'langgraph', 'agents', 'django'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
        "from checkrail import Checkrail, Stopped\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=CLIENT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split("\n")[:2] == ["[]", "[]"]


def test_every_name_can_be_had() -> None:
    assert set(checkrail.__all__) <= set(dir(checkrail))
    for name in checkrail.__all__:
        assert getattr(checkrail, name).__name__ == name


def test_nothing_newer_than_its_oldest_python_is_used() -> None:
    for path in (CLIENT / "checkrail").rglob("*.py"):
        tree = ast.parse(path.read_text(), feature_version=(3, 10))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in LATER:
                later = LATER[node.module]
                used = {alias.name for alias in node.names}
                assert later is not None, path
                assert not used & later, path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                later = LATER.get(node.value.id) or set()
                assert node.attr not in later, path
