"""The lists under "Adding something" name every place that knows one which exists.

Each row follows one through the code: whatever names it is on the list, or uses it in a way
that another one would not have to.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.followed import FOLLOWED
from tests.docs.markdown import ROOT, read_page

PAGE = read_page("docs/architecture.md").partition("## Adding something")[2]
APPS = {path.parent for path in ROOT.glob("*/__init__.py")} - {ROOT / "tests"}
PLACES = [*APPS, ROOT / "client/checkrail", ROOT / "docker", ROOT / "templates"]
CODE = {".py", ".html", ".yaml", ".example"}
FILES = {
    str(path.relative_to(ROOT)): path.read_text()
    for place in PLACES
    for path in sorted(place.rglob("*"))
    if path.suffix in CODE and "migrations" not in path.parts
}

# They hold many subjects: a list names what is further down.
BROAD = {
    f"/{folder.relative_to(ROOT)}/"
    for place in (*PLACES, ROOT / "guidance/core")
    for folder in (place, *place.glob("*/"))
}
# Of demonstrations and measurements: they use what there is.
ELSEWHERE = ("demo/", "bench/")


@pytest.mark.parametrize("name", FOLLOWED)
def test_the_list_names_every_place(name: str) -> None:
    followed = FOLLOWED[name]
    found = {path for path, text in FILES.items() if re.search(followed.pattern, text)}
    named = set().union(*map(list_named, followed.titles))

    assert found - set(followed.users)
    assert set(followed.users) <= found
    assert {
        path
        for path in found - set(followed.users)
        if not path.startswith(ELSEWHERE) and not is_named(path, named)
    } == set()


@pytest.mark.parametrize(
    "title", sorted({title for each in FOLLOWED.values() for title in each.titles})
)
def test_a_list_names_no_folder_of_many_subjects(title: str) -> None:
    folders = {f"/{each}" for each in list_named(title) if each.endswith("/")}
    assert {
        each for each in folders if any(path.endswith(each) for path in BROAD)
    } == set()


def list_named(title: str) -> set[str]:
    """The paths in backquotes between this title and the next one."""
    pattern = rf"^(?:### {title}\n|\*\*{title}\*\*)(.*?)(?=^###|^\*\*A |\Z)"
    found = re.search(pattern, PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"No list for {title}"
    return set(re.findall(r"`([\w./]+)`", found[1]))


def is_named(path: str, named: set[str]) -> bool:
    """By its path, or by a file's or folder's name wherever it stands."""
    return Path(path).name in named or any(
        path == each or (each.endswith("/") and f"/{each}" in f"/{path}")
        for each in named
    )


def test_the_page_is_as_wide_as_its_lines() -> None:
    """But for tables, and the order of the apps."""
    lines = read_page("docs/architecture.md").splitlines()
    long = [line for line in lines if len(line) > 96 and not line.startswith("|")]
    assert [line.partition(" ")[0] for line in long] == ["`config"]
