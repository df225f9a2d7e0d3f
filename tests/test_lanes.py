"""What a second database repeats is known from the fixtures, and from what files say."""

from __future__ import annotations

import pytest

CONFTEST = """
import pytest

@pytest.fixture(scope="session")
def database(): ...

@pytest.fixture
def project(database): ...

@pytest.fixture
def browser(project): ...
"""


@pytest.fixture
def run(pytester: pytest.Pytester) -> pytest.Pytester:
    """A suite of its own, with our lanes and none of the other plug-ins."""
    others = ("django", "randomly", "asyncio", "playwright", "xdist", "timeout")
    without = " ".join(f"-p no:{name}" for name in others)
    pytester.makeini(
        f"[pytest]\nmarkers =\n  browser\n  once\naddopts = -p tests.lanes {without}"
    )
    pytester.makeconftest(CONFTEST)
    return pytester


def lane(run: pytest.Pytester, *arguments: str) -> list[str]:
    """The names of the tests that such a run takes."""
    result = run.runpytest_inprocess("--collect-only", "-q", *arguments)
    return [line.rpartition("::")[2] for line in result.outlines if "::" in line]


def test_what_uses_the_database_is_repeated(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        def test_plain(): ...
        def test_direct(database): ...
        def test_through_others(project): ...
        """
    )
    assert lane(run, "--lane=repeated") == ["test_direct", "test_through_others"]
    assert len(lane(run)) == 3


def test_a_file_may_say_that_once_is_enough(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.once("looks at pages")
        def test_of_a_page(project): ...
        """
    )
    assert lane(run, "--lane=repeated") == []
    assert lane(run) == ["test_of_a_page"]


def test_a_folder_may_say_so_too(run: pytest.Pytester) -> None:
    says = 'import pytest\npytestmark = pytest.mark.once("talks HTTP")'
    for name, text in (("once_enough", says), ("twice_needed", "")):
        folder = run.mkpydir(name)
        (folder / "__init__.py").write_text(text)
        (folder / f"test_{name}.py").write_text(f"def test_{name}(database): ...")
    assert lane(run, "--lane=repeated") == ["test_twice_needed"]


def test_once_without_a_reason_is_refused(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import pytest
        @pytest.mark.once
        def test_of_a_page(project): ...
        """
    )
    result = run.runpytest_inprocess()
    result.stderr.fnmatch_lines(["*once needs a reason*test_of_a_page*"])


def test_whatever_drives_a_browser_is_marked(run: pytest.Pytester) -> None:
    run.makepyfile("def test_plain(project): ...\ndef test_page(browser): ...")
    assert lane(run, "-m", "browser") == ["test_page"]
    assert lane(run, "-m", "not browser") == ["test_plain"]
