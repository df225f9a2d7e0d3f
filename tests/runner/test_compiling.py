"""Before the first run every test is compiled, and what is wrong with one is left to the run."""

from __future__ import annotations

import os

import pytest

from tests.runner.compiling import compile_tests


def test_every_file_is_compiled_beside_one_that_cannot_be(
    pytester: pytest.Pytester,
) -> None:
    folder = pytester.mkdir("tests")
    for name in ("one", "two"):
        (folder / f"test_{name}.py").write_text("def test(): assert True")
    (folder / "test_broken.py").write_text("def test(:")
    pytester.makeini("[pytest]\ntestpaths = tests")
    plain = {
        n: v for n, v in os.environ.items() if not n.startswith(("PYTEST_", "PYTHON"))
    }

    compile_tests({**plain, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})

    compiled = {
        each.name.partition(".")[0] for each in folder.glob("__pycache__/*pytest*")
    }
    assert compiled == {"test_one", "test_two"}
