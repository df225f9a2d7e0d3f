"""No import cycles in client and bench; nowhere too many files, or too long ones."""

from __future__ import annotations

import ast
from collections.abc import Collection
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (ROOT / "client" / "checkrail", ROOT / "bench")
AT_ROOT, IN_FOLDER, LONGEST = 14, 20, 400


def build_import_graph(package: Path) -> dict[str, set[str]]:
    """Which module imports which, imports for type checkers included."""
    modules = {_name(path, package): path for path in package.rglob("*.py")}
    return {
        name: {
            imported
            for node in ast.walk(ast.parse(path.read_text()))
            for imported in _list_imports(node, modules)
            if imported in modules and imported != name
        }
        for name, path in modules.items()
    }


def _name(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _list_imports(node: ast.AST, modules: Collection[str]) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        # `from package import module` is an import of the module.
        named = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in modules else str(node.module) for name in named]
    return []


def find_cycle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_no_module_imports_itself_by_way_of_others(package: Path) -> None:
    graph = build_import_graph(package)

    assert len(graph) > 20
    assert find_cycle(graph) == []


def test_a_cycle_is_found_however_it_is_imported(tmp_path: Path) -> None:
    package = tmp_path / "house"
    package.mkdir()
    (package / "__init__.py").write_text("from house import door\n")
    (package / "door.py").write_text("def open():\n    import house.wall\n")
    (package / "wall.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from house.door import open\n"
    )

    assert set(find_cycle(build_import_graph(package))) == {"house.door", "house.wall"}


def list_apps() -> list[Path]:
    return sorted({path.parent for path in ROOT.glob("*/__init__.py")})


@pytest.mark.parametrize("package", [*list_apps(), PACKAGES[0]], ids=lambda p: p.name)
def test_no_folder_has_too_many_files_side_by_side(package: Path) -> None:
    folders = [package, *(path for path in package.rglob("*") if path.is_dir())]
    counts = {
        str(path.relative_to(ROOT)): len([*path.glob("*.py")])
        for path in folders
        if path.name != "migrations"
    }
    root = counts.pop(str(package.relative_to(ROOT)))

    assert root <= AT_ROOT
    assert {name: count for name, count in counts.items() if count > IN_FOLDER} == {}


@pytest.mark.parametrize("package", [*list_apps(), PACKAGES[0]], ids=lambda p: p.name)
def test_no_file_is_too_long_to_be_read_at_once(package: Path) -> None:
    lines = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in package.rglob("*.py")
        if path.parent.name != "migrations"
    }
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}
