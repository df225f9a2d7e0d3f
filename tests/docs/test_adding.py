"""The lists under "Adding something" name every place that knows one which exists.

Each row follows one through the code: whatever names it is on the list, or uses it in a way
that another one would not have to.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from reviews.models import Kind
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

KINDS = "|".join(Kind.values)
# Of demonstrations and measurements: they use what there is.
ELSEWHERE = ("demo/", "bench/")


class Followed(NamedTuple):
    """`titles` of the lists, the pattern to follow, and who only uses what is found."""

    titles: tuple[str, ...]
    pattern: str
    users: tuple[str, ...] = ()


FOLLOWED = {
    "uncertainty": Followed(("A gate of a step",), r'"uncertainty"'),
    "diff_size": Followed(("A gate of a call",), r'"diff_size"'),
    "cascade": Followed(("A rail of the loop",), r'"cascade"'),
    "git-clean": Followed(("A rule for tool calls",), r'"git-clean"'),
    "step.observed": Followed(("A ledger entry type",), r'"step\.observed"'),
    "loop.alerted": Followed(
        ("A ledger entry type",), r'"loop\.alerted"', ("loop/inbox/incidents.py",)
    ),
    "run.abandoned": Followed(
        ("A ledger entry type",), r'"run\.abandoned"', ("reviews/rulings/expiry.py",)
    ),
    "CHECKRAIL_KEY_RATE": Followed(
        ("A server setting",), r"(?i)\bkey_rate|KEY_RATE", ("config/fastpath/guard.py",)
    ),
    "continue.max_uncertainty": Followed(
        ("A policy setting",),
        r"\bmax_uncertainty\b",
        ("guidance/core/steps/gates/repetition.py", "console/queue/kinds/pause.py"),
    ),
    "caps.open_runs": Followed(
        ("A policy setting",), r"\bopen_runs\b", ("reviews/caps.py",)
    ),
    "tools.max_diff_lines": Followed(
        ("A policy setting",), r"\bmax_diff_lines\b", ("guidance/core/tools/gates.py",)
    ),
    "turns.warn_from": Followed(
        ("A policy setting",), r"\bwarn_from\b", ("guidance/core/turns/judge_turn.py",)
    ),
    "loop.cascade_limit": Followed(
        ("A policy setting",),
        r"\bcascade_limit\b",
        ("guidance/core/loop/guardrails.py",),
    ),
    # Wherever one kind is told from the others.
    "kinds": Followed(
        ("A review kind",),
        rf"\bKind\.[A-Z]|kind\W* (?:[!=]=|in) \W*(?:{KINDS})\b",
        (
            # What is only about calls to confirm, or only about checks.
            "gateway/coding_agents/superseded.py",
            "gateway/use_cases/questions.py",
            "reviews/rule_report/counts.py",
            "reviews/rulings/approvals.py",
            "reviews/rulings/gate_choices.py",
            "reviews/rulings/reading_proof.py",
            # Where actions of the loop are opened and ended.
            "loop/apps.py",
            "loop/cycle/record.py",
        ),
    ),
    "skip": Followed(
        ("A review kind", "A new ruling"),
        r'"skip"[,:})]',
        (
            # What choices on a check do.
            "client/checkrail/flows/gate_checks.py",
            "guidance/core/checks/attempts.py",
            "reviews/rulings/gate_choices.py",
            # An icon.
            "console/runs/checks.py",
        ),
    ),
}


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


def list_named(title: str) -> set[str]:
    """The paths in backquotes between this title and the next one."""
    pattern = rf"^(?:### {title}\n|\*\*{title}\*\*)(.*?)(?=^###|^\*\*A |\Z)"
    found = re.search(pattern, PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None, f"No list for {title}"
    return set(re.findall(r"`([\w./]+)`", found[1]))


def is_named(path: str, named: set[str]) -> bool:
    """By its path, by the folder that it is in, or by its name in every folder."""
    return Path(path).name in named or any(
        path == each or (each.endswith("/") and path.startswith(each)) for each in named
    )


def test_the_page_is_as_wide_as_its_lines() -> None:
    """But for tables, and the order of the apps."""
    lines = read_page("docs/architecture.md").splitlines()
    long = [line for line in lines if len(line) > 96 and not line.startswith("|")]
    assert [line.partition(" ")[0] for line in long] == ["`config"]
