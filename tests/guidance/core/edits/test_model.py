"""Plans against a model so plain that it cannot be wrong, and what must always hold."""

from __future__ import annotations

import hashlib

from hypothesis import given, settings
from hypothesis import strategies as st

from guidance.core.edits import Edit, EditPlan, EditRefusal, plan_edits
from tests.support.examples import examples

thoroughly = settings(derandomize=True, max_examples=1_000)
steadily = examples(200)

Span = tuple[int, int, int]


def everywhere(text: str, old: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(old, at)]


def apart(text: str, old: str) -> list[int]:
    """As str.replace finds them: left to right, none within another."""
    places: list[int] = []
    for at in everywhere(text, old):
        if not places or at >= places[-1] + len(old):
            places.append(at)
    return places


def apply_edits(text: str, edits: list[Edit]) -> str | None:
    """The result, None where the edits have to be refused. Exact matches only."""
    spans: list[Span] = []
    for number, edit in enumerate(edits):
        places = everywhere(text, edit.old)
        if edit.replace_all:
            places = apart(text, edit.old)
        elif len(places) > 1:
            return None
        spans += [(at, at + len(edit.old), number) for at in places]
    owner: dict[int, int] = {}
    for start, end, number in spans:
        for at in range(start, end):
            if at in owner:
                return None
            owner[at] = number
    starts = {start: number for start, _, number in spans}
    result = ""
    for at, char in enumerate(text):
        result += edits[starts[at]].new if at in starts else ""
        result += "" if at in owner else char
    return result


def place(text: str, at: int) -> tuple[int, int]:
    before = text[:at].split("\n")
    return len(before), len(before[-1]) + 1


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """Mostly pieces of the text, so that most edits match somewhere."""
    text = draw(st.text("abc \n", min_size=1, max_size=40))
    edits = []
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text) - 1))
        end = draw(st.integers(start + 1, min(len(text), start + 12)))
        edits.append(
            Edit(
                old=text[start:end],
                new=draw(st.text("xyz a\n", max_size=6)),
                replace_all=draw(st.booleans()),
            )
        )
    return text, edits


@thoroughly
@given(change=changes())
def test_a_plan_is_what_the_model_says(change: tuple[str, list[Edit]]) -> None:
    text, edits = change
    wanted = apply_edits(text, edits)
    plan = plan_edits(text, edits)
    if wanted is None:
        assert isinstance(plan, EditRefusal)
        assert {problem.trouble for problem in plan.problems} <= {
            "ambiguous",
            "overlap",
        }
        return
    assert isinstance(plan, EditPlan)
    assert plan.result == wanted
    assert plan.result_sha256 == hashlib.sha256(wanted.encode()).hexdigest()
    told = [(m.edit, m.line, m.column, m.layer) for m in plan.matches]
    places = [
        (number, *place(text, at), "exact")
        for number, edit in enumerate(edits)
        for at in apart(text, edit.old)
    ]
    assert sorted(told) == sorted(places)


@steadily
@given(change=changes(), order=st.randoms(use_true_random=False))
def test_the_order_of_the_edits_does_not_matter(
    change: tuple[str, list[Edit]], order: object
) -> None:
    text, edits = change
    shuffled = list(edits)
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = plan_edits(text, edits), plan_edits(text, shuffled)
    assert isinstance(one, EditPlan) == isinstance(other, EditPlan)
    if isinstance(one, EditPlan) and isinstance(other, EditPlan):
        assert one.result == other.result
        assert one.diff == other.diff


@steadily
@given(change=changes())
def test_a_crlf_file_is_edited_as_the_same_file_with_lf(
    change: tuple[str, list[Edit]],
) -> None:
    text, edits = change
    one = plan_edits(text, edits)
    other = plan_edits(text.replace("\n", "\r\n"), edits)
    assert isinstance(one, EditPlan) == isinstance(other, EditPlan)
    if isinstance(one, EditPlan) and isinstance(other, EditPlan) and "\n" in text:
        assert other.result == one.result.replace("\n", "\r\n")


@steadily
@given(
    text=st.text(max_size=60),
    edits=st.lists(
        st.builds(
            Edit,
            old=st.text(max_size=8),
            new=st.text(max_size=8),
            replace_all=st.booleans(),
        ),
        max_size=4,
    ),
)
def test_no_text_and_no_edit_raises(text: str, edits: list[Edit]) -> None:
    plan = plan_edits(text, edits)
    if isinstance(plan, EditRefusal):
        assert plan.problems
    else:
        assert len(plan.matches) >= len(edits)
