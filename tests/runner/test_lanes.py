"""Which tests a run takes is known from fixtures, from code, and from a list."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.runner.costs import SLOW_TESTS
from tests.runner.database import ROOT
from tests.runner.lanes import spread_heavy
from tests.runner.record import Outcomes, left_out, read_outcomes
from tests.suite import list_tests_of_room

CONFTEST = """
import subprocess
import pytest

@pytest.fixture(scope="session")
def database(): ...

@pytest.fixture
def project(database): ...

@pytest.fixture
def browser(project): ...

@pytest.fixture
def server():
    subprocess.run(["true"])
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite of its own, with our lanes and none of the other plug-ins."""
    (pytester.path / "slow.json").write_text("{}")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini(
        "[pytest]\nmarkers =\n  browser\n  once\n  slow\n"
        "addopts = -p tests.runner.lanes --slow-tests=slow.json"
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


def test_a_folder_that_is_left_out_is_not_even_imported(run: pytest.Pytester) -> None:
    for name in ("once", "slow"):
        folder = run.mkpydir(name)
        says = f'import pytest\npytestmark = pytest.mark.{name}("it is big")'
        (folder / "__init__.py").write_text(says)
        (folder / f"test_{name}_only.py").write_text(
            "import big\ndef test_it(database): ..."
        )
    run.makepyfile(test_small="def test_small(database): ...")
    assert lane(run, "--lane=repeated", "--ignore=slow") == ["test_small"]
    assert lane(run, "--lane=quick", "--ignore=once") == ["test_small"]
    outlines = run.runpytest_inprocess("--lane=quick", "--ignore=once").outlines
    said = "0 of 1 tests left out: 0 are slow, 0 start processes or browsers"
    assert f"{said}; all of slow" in outlines
    assert lane(run, "--lane=quick", "slow") == []  # big was missing: it was named


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


def test_each_process_begins_with_its_part_of_what_is_heavy(
    run: pytest.Pytester,
) -> None:
    run.makepyfile(
        "".join(f"def test_light_{n}(): ...\n" for n in range(4))
        + "".join(f"def test_server_{n}(server): ...\n" for n in range(2))
        + "".join(f"def test_browser_{n}(browser): ...\n" for n in range(3))
    )
    items, _ = run.inline_genitems("-p", "tests.runner.lanes")
    for processes, order in ((1, "bbbssllll"), (2, "bsllbbsll"), (3, "blbslbsll")):
        spread = spread_heavy(items, processes=processes)
        assert "".join(item.name[len("test_")] for item in spread) == order
        assert set(spread) == set(items)


def test_what_starts_a_process_is_not_quick(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import subprocess
        def test_plain(project): ...
        def test_itself(): subprocess.run(["true"])
        def test_inside(): (lambda: subprocess.run(["true"]))()
        def test_by_a_fixture(server): ...
        def test_page(browser): ...
        """
    )
    assert lane(run, "--lane=quick") == ["test_plain"]


def test_helpers_are_followed_to_the_process(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        from tests.support.processes import environment, manage, up
        class Server:
            def start(self): up("folder")
        def test_near(): manage("check")
        def test_far(): Server().start()
        def test_plain(): environment()
        """
    )
    assert lane(run, "--lane=quick") == ["test_plain"]


TIMES = """
import time
import pytest

def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end: ...

def test_quick(): time.sleep(0.3)  # waits, and costs nothing
def test_burning(): burn(0.2)
@pytest.mark.parametrize("seconds", [0] * 19 + [0.2])
def test_seldom(seconds): burn(seconds)
@pytest.mark.parametrize("seconds", [0, 0.2])
def test_often(seconds): burn(seconds)
"""


@pytest.mark.parametrize("processes", [(), ("-p", "xdist", "-n", "2")])
def test_what_costs_much_is_listed_and_left_out(
    run: pytest.Pytester, processes: Sequence[str]
) -> None:
    run.makepyfile(test_times=TIMES, test_light="def test_it(): ...")
    run.runpytest("--note-slow", *processes).assert_outcomes(passed=25)
    listed = json.loads(Path("slow.json").read_text())
    assert listed == {"test_times.py": ["test_burning", "test_often"]}

    result = run.runpytest("--lane=quick", *processes)
    result.assert_outcomes(passed=22)
    said = "3 of 25 tests left out: 3 are slow, 0 start processes or browsers"
    assert result.outlines.count(said) == 1


def test_what_a_quick_run_leaves_out_is_said_by_its_reason(
    run: pytest.Pytester,
) -> None:
    run.makepyfile(
        test_both="import subprocess\n"
        "def test_process(): subprocess.run(['true'])\n"
        "def test_page(browser): ...\n"
        "def test_slow(): ...\n"
        "def test_new(): ...\n"
    )
    Path("slow.json").write_text('{"test_both.py": ["test_slow", "test_page"]}')
    outlines = run.runpytest_inprocess("--lane=quick", "--collect-only").outlines
    said = "3 of 4 tests left out: 1 are slow, 2 start processes or browsers"
    assert said in outlines
    assert not [line for line in run.runpytest("-q").outlines if "left out" in line]


def test_every_slow_test_is_there() -> None:
    """A test that was renamed, and is still slow, is listed by its new name."""
    gone = [
        f"{path}::{name}"
        for path, names in json.loads(SLOW_TESTS.read_text()).items()
        for name in names
        if not Path(ROOT, path).exists()
        or f"def {name}(" not in Path(ROOT, path).read_text()
    ]
    assert gone == []


def test_what_no_profile_has_run_is_said(run: pytest.Pytester) -> None:
    run.makepyfile(
        """
        import pytest
        def test_passes(): ...
        def test_of_another_database(): pytest.skip("SQLite knows no COPY.")
        @pytest.mark.skipif(True, reason="Codex is not installed")
        def test_codex(): ...
        """
    )
    path = Path(run.path, "outcomes.json")
    run.runpytest_inprocess(f"--outcomes={path}")
    sqlite = read_outcomes(path)
    (file,) = {test.partition("::")[0] for test in sqlite.passed}
    postgres = Outcomes(passed={f"{file}::test_of_another_database"})

    assert left_out([sqlite, postgres]) == ["1 test: Codex is not installed"]
    assert len(left_out([sqlite])) == 2
    assert left_out([read_outcomes(Path("nowhere"))]) == []


def test_where_the_time_went_is_said_by_folders(run: pytest.Pytester) -> None:
    waits = "import time\ndef test_it(): time.sleep({})"
    for folder, length in (("near", 0.1), ("far/below", 0.2), ("far/other", 0.2)):
        path = Path(run.path, "tests", folder, f"test_{folder[-3:]}.py")
        path.parent.mkdir(parents=True)
        path.write_text(waits.format(length))
    path = Path(run.path, "outcomes.json")
    run.runpytest_inprocess(f"--outcomes={path}")

    seconds = read_outcomes(path).seconds
    assert seconds.keys() == {"tests/near", "tests/far"}
    assert seconds["tests/far"] >= 0.4
    far, near = read_outcomes(path).list_dearest()
    assert far.startswith("tests/far 0 s")
    assert near == "tests/near 0 s"


def test_a_room_is_its_folder_or_else_the_files_that_import_it() -> None:
    assert list_tests_of_room("ledger") == ["tests/ledger"]
    assert "tests/runner/test_lanes.py" in list_tests_of_room("tests.runner.record")
    assert "tests/support/test_rows.py" not in list_tests_of_room("tests.runner.record")
    with pytest.raises(SystemExit, match="no test is about cellar"):
        list_tests_of_room("cellar")
