"""A plug-in for pytest: it collects once, and tries each fault in a fork of its own."""

from __future__ import annotations

import json
import os
import resource
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from tests.mutants.faults import Fault, choose_faults, read_faults
from tests.mutants.planting import find_function, plant, watch

# So many tests try a fault: of those that enter its function the nearest, then the quickest.
NEAREST, TRIES = 30, 60
PATIENCE_SECONDS = 120
AT_ONCE = os.cpu_count() or 2
# How a child ends; one that was killed, by its limit or by itself, has noticed.
SURVIVED, NOTICED, UNPLANTED = 0, 3, 4

# Of each function, by file and first line: the tests that enter it, the quickest first.
Entries = dict[tuple[str, int], list[str]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--lines", type=Path, help="changed lines by file, as JSON")
    parser.addoption("--written", type=Path, help="the faults themselves, as JSON")
    parser.addoption("--faults", type=int, help="how many are tried")
    parser.addoption("--fault-seed", type=int, help="which are tried")


def pytest_configure(config: pytest.Config) -> None:
    option = config.option
    if option.written:
        faults = read_faults(option.written)
    else:
        changes = json.loads(option.lines.read_text())
        faults = choose_faults(changes, count=option.faults, seed=option.fault_seed)
    config.pluginmanager.register(Mutants(faults))


class Mutants:
    """Takes the place of pytest's own loop over the tests."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._noticed = 0
        self._sentences: list[str] = []
        self._children: dict[int, tuple[Fault, list[str]]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        import config.asgi  # noqa: F401 (no child need load it)

        items = {item.nodeid: item for item in session.items}
        paths = sorted({fault.path for fault in self._faults})
        for path in paths:
            # What a server loads late would come from the file, without its fault.
            import_module(".".join(Path(path).with_suffix("").parts))
        entries = _find_entries(paths, [*items.values()])
        for fault in self._faults:
            where = fault.path, find_function(fault.path, fault.line)
            tests = choose_tests(fault.path, entries.get(where, []))
            if not tests:
                self._sentences.append(f"no test enters it: {fault.sentence}")
                continue
            if len(self._children) == AT_ONCE:
                self._settle_one()
            chosen = [items[test] for test in tests]
            self._children[_fork(partial(_try, fault, chosen))] = fault, tests
        while self._children:
            self._settle_one()
        return True

    def _settle_one(self) -> None:
        child, status = os.wait()
        fault, tests = self._children.pop(child)
        match os.waitstatus_to_exitcode(status):
            case code if code == SURVIVED:
                say = f"survived {len(tests)} tests such as {tests[0]}"
                self._sentences.append(f"{say}: {fault.sentence}")
            case code if code == UNPLANTED:
                self._sentences.append(f"could not be planted: {fault.sentence}")
            case _:
                self._noticed += 1

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        for sentence in sorted(self._sentences):
            terminalreporter.write_line(f"mutants: {sentence}")
        seed = terminalreporter.config.option.fault_seed
        of = f"{self._noticed} of {len(self._faults)} faults noticed"
        terminalreporter.write_line(f"mutants: {of}; --seed {seed} repeats it")


def choose_tests(path: str, entering: Sequence[str]) -> list[str]:
    """Those in the folders that are called as the file's, and then the first of the others:
    a test that is quick and far away enters much, and looks at little."""

    def count_common(test: str) -> int:
        parts = zip(("tests", *path.split("/")), test.split("/"), strict=False)
        return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], parts))

    nearest = sorted(entering, key=count_common, reverse=True)[:NEAREST]
    return list(dict.fromkeys([*nearest, *entering]))[:TRIES]


def _find_entries(paths: Sequence[str], items: Sequence[pytest.Item]) -> Entries:
    """Run all tests as they are, in children, and note which functions they enter."""
    found: dict[tuple[str, int], list[tuple[float, str]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        results = [Path(folder, str(number)) for number in range(AT_ONCE)]
        for number, result in enumerate(results):
            _fork(partial(_watch, paths, items[number::AT_ONCE], result))
        for _ in results:
            os.wait()
        for result in results:
            for path, line, seconds, test in json.loads(result.read_text()):
                found[path, line].append((seconds, test))
    return {where: [test for _, test in sorted(each)] for where, each in found.items()}


def _fork(work: Callable[[], int]) -> int:
    """The number of a child that ends with what `work` returns. It has a database of its
    own, and threads of its own: none runs yet in this process."""
    child = os.fork()
    if child:
        return child
    code = NOTICED
    try:
        data = Path(settings.DATABASES["default"]["NAME"]).parent
        for known in (connection.settings_dict, settings.DATABASES["default"]):
            known["TEST"]["NAME"] = str(data / f"child-{os.getpid()}.sqlite3")
        code = work()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _try(fault: Fault, items: Sequence[pytest.Item]) -> int:
    if not plant(fault.path, fault.tree):
        return UNPLANTED
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE_SECONDS, PATIENCE_SECONDS))
    passed = all(report for _, report in _run(items))
    return SURVIVED if passed else NOTICED


def _watch(paths: Sequence[str], items: Sequence[pytest.Item], result: Path) -> int:
    entered: set[tuple[str, int]] = set()
    for path in paths:
        watch(path, lambda path, line: entered.add((path, line)))
    found = []
    started = time.monotonic()
    for test, passed in _run(items):
        seconds = time.monotonic() - started
        if passed:
            # A copy: threads of a server may enter something meanwhile.
            found += [(*where, seconds, test) for where in entered.copy()]
        entered.clear()
        started = time.monotonic()
    result.write_text(json.dumps(found))
    return 0


def _run(items: Sequence[pytest.Item]) -> Iterator[tuple[str, bool]]:
    """Each test, and whether it has passed."""
    failed: Counter[str] = Counter()

    class Listener:
        def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
            failed[report.nodeid] += report.failed

    plugins = items[0].config.pluginmanager
    plugins.register(Listener())
    plugins.unregister(name="terminalreporter")
    for item, following in pairwise([*items, None]):
        assert item is not None
        item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        yield item.nodeid, not failed[item.nodeid]
