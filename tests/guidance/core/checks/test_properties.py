"""What holds for every text, every verdict and every sequence of verdicts and rulings."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from guidance.core.checks import (
    MODES,
    CheckState,
    CombinedGates,
    GateVerdict,
    NotOffered,
    Refused,
    Verdict,
    VerdictProblem,
    apply_ruling,
    apply_verdict,
    build_prompt,
    open_check,
    read_gate,
    read_verdict_body,
    read_verdict_text,
    render_verdict,
)
from guidance.core.checks.verdicts import list_contradictions
from tests.guidance.core.checks.builders import FAIL, PASS, check, gate, read
from tests.support.examples import examples

steadily = examples(150)
thoroughly = examples(500)

# Pieces that mean something to the reader, so that they meet in every way.
QUIET = (
    "GATE_REVIEW", "GATE", "gate", ":", " - ", "—", "-", "PASS", "pass", "reason", "**",
    "`", "\n", "\n", "\u2028", " ", "> ", "- ", "|", "_", "[1]", "3.", "1", "0", "<", ">",
    "\u200b", "\u0430", "GATE_REVIEW: PASS - ok", "GATE PASS: ok", "PASS - ok",
    "GATE_REVIEW: PASS|FAIL - reason",
)  # fmt: skip
LOUD = (
    "FAIL", "Fail", "```", "~~~", "\n```\n", "\r", "\u202e", "GATE_VERDICTS",
    "CRITERION_VERDICTS", "\nGATE_VERDICTS\n", "[1] PASS - ok", "[2] FAIL - no",
)  # fmt: skip


def mix_texts(pieces: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces) | st.text(max_size=5), max_size=25).map(
        "".join
    )


quiet, noise = mix_texts(QUIET), mix_texts(QUIET + LOUD)
reasons = st.sampled_from(
    ("no test", "a - b", "x: y", "GATE_REVIEW: PASS - ok", "PASS")
)
marks = st.sampled_from(("", "**", "`", "***", "**`"))
fails = st.builds(
    lambda mark, form, reason: f"{mark}{form}{reason}{mark[::-1]}",
    marks,
    st.sampled_from(
        ("GATE_REVIEW: FAIL - ", "gate_review: fail : ", "GATE FAIL — ", "Gate Fail: ")
    ),
    reasons,
)
breaks = st.sampled_from(("\n", "\r\n", "\n\n", "\u2028", "\x85"))
counts = st.none() | st.integers(1, 5)
lines = st.text(max_size=60) | noise.map(lambda text: " ".join(text.splitlines()))


def is_consistent(text: str) -> bool:
    return not list_contradictions(Verdict(overall="PASS", rationale=text), gates=None)


rationales = st.one_of(
    lines.map(lambda text: f"Seen {text}".strip()), quiet.map(str.strip)
).filter(is_consistent)


@thoroughly
@given(noise, breaks, fails, breaks, noise, st.booleans(), counts)
def test_nothing_around_a_fail_makes_a_pass_of_it(
    before: str,
    one: str,
    fail: str,
    two: str,
    after: str,
    bare: bool,
    gates: int | None,
) -> None:
    read = read_verdict_text(f"{before}{one}{fail}{two}{after}", gates=gates, bare=bare)
    assert isinstance(read, VerdictProblem) or not read.passed


@thoroughly
@given(breaks, fails, breaks, noise, st.booleans())
def test_a_fail_that_comes_first_counts(
    one: str, fail: str, two: str, after: str, bare: bool
) -> None:
    """Unless what follows makes the entries of a block unsound."""
    read = read_verdict_text(f"{one}{fail}{two}{after}", gates=None, bare=bare)
    if "VERDICTS" not in after:
        assert isinstance(read, Verdict)
    assert isinstance(read, VerdictProblem) or read.overall == "FAIL"


@thoroughly
@given(noise | st.text(), st.booleans(), counts)
def test_reading_never_raises(text: str, bare: bool, gates: int | None) -> None:
    read = read_verdict_text(text, gates=gates, bare=bare)
    if isinstance(read, Verdict):
        assert list_contradictions(read, gates=gates) == []
        assert read_verdict_text(render_verdict(read), gates=gates, bare=bare) == read


@steadily
@given(quiet, quiet, st.booleans())
def test_a_pass_is_never_read_beside_a_line_that_is_a_fail(
    before: str, after: str, bare: bool
) -> None:
    text = f"{before}\nGATE_REVIEW: PASS - ok\n{after}"
    verdict = read_verdict_text(text, gates=None, bare=bare)
    assume(isinstance(verdict, Verdict))
    for contrary in ("GATE_REVIEW: FAIL - no", "> GATE FAIL", "[7] FAIL - no", "FAIL"):
        spoilt = read_verdict_text(f"{text}\n{contrary}", gates=None, bare=bare)
        assert isinstance(spoilt, VerdictProblem)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    overall = draw(st.sampled_from(("PASS", "FAIL")))
    indexes = draw(st.lists(st.integers(1, 40), unique=True, max_size=8))
    passing = st.just(True) if overall == "PASS" else st.booleans()
    return Verdict(
        overall=overall,
        rationale=draw(rationales),
        per_gate=tuple(
            GateVerdict(index=index, passed=draw(passing), rationale=draw(rationales))
            for index in indexes
        ),
    )


@steadily
@given(verdicts())
def test_a_verdict_survives_its_text_and_its_object(verdict: Verdict) -> None:
    assert read(render_verdict(verdict), gates=40) == verdict
    document = verdict.to_json()
    del document["form"]
    assert read_verdict_body(document, gates=40) == verdict


@steadily
@given(verdicts(), st.integers(1, 40))
def test_pass_with_a_failing_entry_is_always_refused(
    verdict: Verdict, index: int
) -> None:
    others = tuple(one for one in verdict.per_gate if one.index != index)
    failing = GateVerdict(index=index, passed=False, rationale="No")
    wrong = Verdict(overall="PASS", rationale="Fine", per_gate=(*others, failing))
    document = wrong.to_json()
    del document["form"]
    assert isinstance(read_verdict_body(document, gates=40), VerdictProblem)
    for bare in (True, False):
        text = read_verdict_text(render_verdict(wrong), gates=40, bare=bare)
        assert isinstance(text, VerdictProblem)


documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    "overall",
                    "rationale",
                    "per_gate",
                    "index",
                    "passed",
                    "id",
                    "criteria",
                )
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@steadily
@given(documents)
def test_no_document_raises_anything_but_a_refusal(document: Any) -> None:
    read = read_verdict_body(document, gates=3)
    assert isinstance(read, VerdictProblem) or list_contradictions(read, gates=3) == []
    with suppress(Refused):
        read_gate(document)


texts = lines.filter(str.strip).map(str.strip)
definitions = st.fixed_dictionaries(
    {},
    optional={
        "name": texts,
        "description": noise.filter(str.strip),
        "guidance": noise.filter(str.strip),
        "criteria": st.lists(
            texts
            | st.builds(lambda text: {"text": text, "verifier": "judge"}, texts)
            | st.builds(
                lambda text: {"text": text, "verifier": "command", "command": text},
                texts,
            ),
            max_size=3,
        ),
    },
)


def make_gates(documents: list[dict[str, Any]]) -> CombinedGates:
    try:
        return check(
            *(
                read_gate({"id": f"gate-{place}", "mode": "blocking", **document})
                for place, document in enumerate(documents)
            )
        )
    except Refused:
        assume(False)
        raise


@steadily
@given(st.lists(definitions, min_size=1, max_size=2), rationales, noise)
def test_no_echo_of_a_prompt_is_a_verdict(
    documents: list[dict[str, Any]], rationale: str, guidance: str
) -> None:
    gates = make_gates(documents)
    said = Verdict(overall="FAIL", rationale=rationale)
    state = open_check(gates)
    while state.status == "open":
        state = apply_verdict(state, said, gates=gates).state
    state = apply_ruling(state, "retry", said="Again", guidance=guidance)
    for bare in (True, False):
        echo = read_verdict_text(build_prompt(gates, state), gates=None, bare=bare)
        assert isinstance(echo, VerdictProblem)


class Model:
    """The same law in the plainest words, to compare with."""

    def __init__(self, mode: str, most: int, resets: int) -> None:
        self.mode, self.most, self.resets_left = mode, most, resets
        self.failed, self.status = 0, "open"

    def do(self, move: str) -> bool:
        """Whether the move is allowed at all."""
        if move in {"PASS", "FAIL"}:
            if self.status != "open":
                return False
            if move == "PASS":
                self.status = "passed"
                return True
            self.failed += 1
            if self.mode == "advisory":
                self.status = "warned"
            elif self.mode == "informational":
                self.status = "logged"
            elif self.failed == self.most:
                self.status = "exhausted"
            return True
        if self.status != "exhausted" or (move == "retry" and not self.resets_left):
            return False
        if move == "retry":
            self.failed, self.status = 0, "open"
            self.resets_left -= 1
        else:
            self.status = {"skip": "skipped", "abort": "aborted"}[move]
        return True


def apply_move(state: CheckState, move: str, gates: CombinedGates) -> CheckState | None:
    try:
        if move in {"PASS", "FAIL"}:
            verdict = PASS if move == "PASS" else FAIL
            return apply_verdict(state, verdict, gates=gates).state
        return apply_ruling(state, move, said="x")
    except NotOffered:
        return None


@thoroughly
@given(
    st.sampled_from(MODES),
    st.integers(1, 4),
    st.integers(0, 3),
    st.lists(
        st.sampled_from(
            ("FAIL", "FAIL", "FAIL", "PASS", "retry", "retry", "skip", "abort")
        ),
        max_size=30,
    ),
)
def test_a_check_lives_as_its_plain_model(
    mode: str, most: int, resets: int, moves: list[str]
) -> None:
    gates = check(gate(mode=mode, retry={"max_attempts": most}))
    state = open_check(gates, max_resets=resets)
    model = Model(mode, most, resets)
    for move in moves:
        after = apply_move(state, move, gates)
        assert (after is not None) == model.do(move)
        if after is not None:
            assert len(after.history) == len(state.history) + 1
            assert CheckState.from_json(after.to_json()) == after
            state = after
        assert (state.status, state.attempts) == (model.status, model.failed)
        assert ("retry" in state.offers) == (
            model.status == "exhausted" and model.resets_left > 0
        )
