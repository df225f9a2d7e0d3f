"""The import contracts bite: a wrong import of either kind fails `make check`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pytest
from grimp import ImportGraph
from importlinter.application.app_config import settings
from importlinter.application.use_cases import lint_imports, read_user_options
from importlinter.configuration import configure


@dataclass
class Builder:
    """Hands out a graph that was built before, instead of reading every file again."""

    graph: ImportGraph

    def build(self, **options: Any) -> ImportGraph:
        return self.graph


@pytest.fixture(scope="module")
def graph() -> ImportGraph:
    """Every import of the apps as they stand, read once."""
    configure()
    session = read_user_options().session_options
    graph: ImportGraph = settings.GRAPH_BUILDER.build(
        root_package_names=session["root_packages"],
        include_external_packages=True,
        exclude_type_checking_imports=False,
        cache_dir=None,
    )
    return graph


@pytest.fixture
def planted(graph: ImportGraph) -> Iterator[ImportGraph]:
    """A copy of the graph that may be spoiled; the linter reads it."""
    copied = deepcopy(graph)
    settings.configure(GRAPH_BUILDER=Builder(copied))
    yield copied
    configure()


def lint() -> bool:
    return lint_imports(cache_dir=None, no_logo=True)


@pytest.mark.parametrize(
    ("module", "wrong"),
    [
        ("guidance.core.steps.judge_step", "django"),
        ("guidance.core.steps.scores", "random"),
        ("guidance.core.tools.section", "guidance.core.policy"),
        ("guidance.core.secrets.labels", "guidance.core.secrets.scan"),
        ("ledger.writer.thread", "reviews.models"),
        ("accounts.services", "ledger.writer"),
        ("reviews.services", "config.settings"),
    ],
)
def test_a_wrong_import_breaks_a_contract(
    planted: ImportGraph, capsys: pytest.CaptureFixture[str], module: str, wrong: str
) -> None:
    assert module in planted.modules
    planted.add_import(importer=module, imported=wrong)
    assert not lint()
    assert "BROKEN" in capsys.readouterr().out


def test_the_rooms_as_they_stand_keep_every_contract(planted: ImportGraph) -> None:
    assert lint()
