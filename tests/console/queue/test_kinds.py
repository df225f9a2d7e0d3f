"""A kind of review is one module, one partial and one line: shown by a made-up one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, get_args

import httpx
import pytest
from django.template import Engine
from django.utils import timezone
from django.utils.safestring import SafeString

from accounts.models import Project, Role
from console.fragments import render_fragment
from console.layout import PageFrame
from console.models import Preferences
from console.queue.detail import build_detail, load_review
from console.queue.fragments import render_list_row
from console.queue.kinds import KINDS
from console.queue.kinds.base import ReviewKind, Subject, describe_work
from console.queue.rows import build_rows
from console.runs.sentences.calls import describe_ruling
from ledger.schemas import ReviewKindName
from reviews.models import RULINGS, Kind, Review
from reviews.schemas.reviews import Action
from tests.support.builders import Person, pause_at_once, start_run

pytestmark = pytest.mark.once("looks at pages, whatever database is behind them")

ROOT = Path(__file__).resolve().parents[3]
PARTIAL = '<section class="card"><h2>{{ body }}</h2></section>'


class MemoKind(ReviewKind[str]):
    """The module of a seventh kind: nothing else in the Python of the console."""

    icon: ClassVar[str] = "note"
    word: ClassVar[str] = "Memo to read"
    nouns: ClassVar[tuple[str, str]] = ("memo", "memos")
    hint: ClassVar[str] = "Approve says that you have read it."
    template: ClassVar[str] = "console/queue/kinds/_memo.html"

    def build_chip(self, content: Mapping[str, Any]) -> str:
        return "memo"

    def build_body(self, subject: Subject) -> str:
        return str(subject.content["memo"])

    def build_headline(self, subject: Subject, body: str) -> SafeString:
        return describe_work(subject, "sent a memo")


@pytest.fixture
def review(
    project: Project,
    agent: httpx.Client,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Review:
    """A review of that kind, with its partial and its registration."""
    code = pause_at_once(agent, start_run(agent))
    found = load_review(project_id=project.pk, code=Review.objects.get(code=code).code)
    assert found is not None
    found.kind = "memo"
    found.content = json.dumps({"memo": "Read & <b>sign</b>"})
    folder = tmp_path / "console" / "queue" / "kinds"
    folder.mkdir(parents=True)
    (folder / "_memo.html").write_text(PARTIAL)
    engine = Engine.get_default()
    for loader in engine.template_loaders:
        for each in getattr(loader, "loaders", [loader]):
            dirs = [*each.get_dirs(), tmp_path]
            monkeypatch.setattr(each, "dirs", dirs, raising=False)
    monkeypatch.setitem(KINDS, "memo", MemoKind())
    # The domain's own line: what a person may choose.
    monkeypatch.setitem(RULINGS, "memo", ("approve", "abort"))
    return found


def test_its_row_says_what_the_kind_says(project: Project, review: Review) -> None:
    (row,) = build_rows([review], slug=project.slug, at=timezone.now(), seq=1)
    html = render_list_row(row)
    assert "#i-note" in html
    assert '<span class="chip">memo</span>' in html


def test_its_detail_shows_its_partial_and_its_words(
    project: Project, alice: Person, review: Review
) -> None:
    detail = build_detail(
        review, slug=project.slug, viewer=alice.user, at=timezone.now()
    )
    html = render_fragment(
        "console/queue/_detail.html",
        detail=detail,
        slug=project.slug,
        page_frame=PageFrame(
            project=project,
            user=alice.user,
            role=Role.REVIEWER,
            preferences=Preferences(user=alice.user),
        ),
    )
    assert "<h2>Read &amp; &lt;b&gt;sign&lt;/b&gt;</h2>" in html
    assert "Memo to read" in html
    assert (
        "<b>robo</b> sent a memo while working on “Fix the flaky login test”." in html
    )
    assert "Approve says that you have read it." in html
    assert set(re.findall(r'name="action" value="([a-z]+)"', html)) == {
        "approve",
        "abort",
    }


def test_every_kind_that_is_stored_is_registered() -> None:
    assert set(KINDS) == set(Kind.values)
    assert set(get_args(ReviewKindName)) == set(Kind.values)
    assert set(RULINGS) == set(Kind.values)


def test_every_ruling_may_be_sent_and_reads_as_itself() -> None:
    actions = {action for actions in RULINGS.values() for action in actions}
    assert set(get_args(Action)) == actions
    check = {"resets": 1, "max_resets": 3}
    heads = {describe_ruling({"action": a, "check_state": check}).head for a in actions}
    assert len(heads - {"Ruled"}) == len(actions)


def test_nothing_else_in_the_console_s_queue_asks_for_a_kind() -> None:
    """No `if kind == …`: neither in the templates nor in the modules beside the kinds."""
    named = re.compile(r"\bkind\s*[!=]=|\bKind\.[A-Z]")
    places = [
        *(ROOT / "console" / "queue").glob("*.py"),
        *(ROOT / "templates" / "console" / "queue").rglob("*.html"),
    ]
    assert len(places) > 20
    found = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in places
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if named.search(line)
    }
    assert found == set()
