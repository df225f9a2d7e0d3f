"""Tables in the documentation say what the code says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import asdict

from common.errors import DomainError
from config.environment import Environment
from config.pages import PROBLEM_TYPES
from demo.agents.profiles import PROFILES
from guidance.core.policy.caps import Caps
from guidance.core.vocabulary import STEP_DECISIONS
from ledger.entry_types import list_entry_types
from reviews.models import RULINGS, ReviewState
from tests.docs.markdown import ROOT, code, read_page, table_under
from tests.mutants.__main__ import COUNT
from tests.mutants.session import TRIES
from tests.night.__main__ import FAULTS
from tests.runner.costs import SLOW_SECONDS
from tests.runner.profiles import ALONE_TIMES, PROCESSES, UNSTEADY_LIMIT


def every_error(kind: type[DomainError] = DomainError) -> Iterator[type[DomainError]]:
    for child in kind.__subclasses__():
        # Tests may define some of their own.
        if not child.__module__.startswith("tests"):
            yield child
        yield from every_error(child)


def test_every_problem_is_listed_with_its_status() -> None:
    rows = table_under(read_page("docs/api.md"), first_column="slug")
    documented = {(code(slug), int(status)) for slug, status, _ in rows}
    assert len(documented) == len(rows)
    assert documented == {(kind.slug, kind.status) for kind in every_error()}


def test_every_documented_problem_has_its_page() -> None:
    rows = table_under(read_page("docs/api.md"), first_column="slug")
    assert {code(row[0]) for row in rows} == set(PROBLEM_TYPES)


def test_every_setting_is_listed_with_its_default() -> None:
    def shown(value: object) -> str:
        if value in (None, ()):
            return "–"
        return f"`{str(value).lower() if isinstance(value, bool) else value}`"

    rows = table_under(read_page("docs/settings.md"), first_column="Variable")
    assert [(code(name), default) for name, default, _ in rows] == [
        (field.validation_alias, shown(field.default))
        for field in Environment.model_fields.values()
    ]


def test_every_type_of_entry_is_listed() -> None:
    rows = table_under(read_page("docs/ledger.md"), first_column="type")
    assert sorted(code(row[0]) for row in rows) == list_entry_types()


def test_every_decision_state_and_ruling_is_listed() -> None:
    api = read_page("docs/api.md")
    decisions = [code(row[0]) for row in table_under(api, first_column="`decision`")]
    assert decisions == list(reversed(STEP_DECISIONS))
    states = {code(row[0]) for row in table_under(api, first_column="`state`")}
    assert states == {"none", *ReviewState.values}
    rulings = {
        code(kind): tuple(
            re.findall(r"`(\w+)`(?! *\))", re.sub(r"\(.*?\)", "", chosen))
        )
        for kind, _, chosen in table_under(api, first_column="kind")
    }
    assert rulings == {str(kind): actions for kind, actions in RULINGS.items()}


def test_every_decision_record_is_listed() -> None:
    index = read_page("docs/adr/README.md")
    records = {path.name for path in (ROOT / "docs/adr").glob("0*.md")}
    assert set(re.findall(r"\((0\d+[\w-]+\.md)\)", index)) == records


def test_the_readme_counts_the_demo_agents() -> None:
    assert len(PROFILES) == 14
    assert "fourteen simulated" in read_page("README.md")


def test_every_cap_is_listed_with_its_default() -> None:
    rows = table_under(read_page("docs/api.md"), first_column="cap")
    listed = {
        code(cap): (number(agent), number(project), number(for_each))
        for cap, agent, project, for_each, _ in rows
    }
    assert listed == {
        name: (cap["agent"], cap["project"], cap["project_per_agent"])
        for name, cap in asdict(Caps()).items()
    }


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_every_target_of_make_is_listed() -> None:
    rows = table_under(read_page("docs/development.md"), first_column="Target")
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
    assert [code(row[0]) for row in rows] == [
        f"make {target}" for target in targets if target != "help"
    ]


def test_how_tests_are_run_is_said_with_the_numbers_of_the_code() -> None:
    words = ("one", "two", "three", "four", "five")
    pytest_options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
        "pytest"
    ]
    sqlite, postgres = (words[each - 1] for each in PROCESSES.values())
    numbers = (
        f"more than {SLOW_SECONDS} seconds of a processor",
        f"{sqlite} processes share the tests on SQLite, {postgres} those on PostgreSQL",
        f"may take longer than {words[int(pytest_options['timeout']) // 60 - 1]} minutes",
        f"Up to {words[UNSTEADY_LIMIT - 1]} tests that failed are tried "
        f"{words[ALONE_TIMES - 1]} times more",
        f"it plants {FAULTS} faults in what the last week has changed",
        f"{COUNT} of them by chance",
        f"tried in a fork by the {TRIES} quickest tests",
    )
    page = " ".join((ROOT / "docs/development.md").read_text().split())
    assert [number for number in numbers if number not in page] == []
