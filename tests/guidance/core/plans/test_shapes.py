"""Calls by shape, one after the other: none strays, none is made once too often."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from guidance.core.plans.matching import get_plan_facts, list_asking, name_asking_rule
from guidance.core.plans.paths import find_path_problem
from guidance.core.plans.proposal import ProposedCall, ProposedStep
from guidance.core.runs.plans import RunPlan
from guidance.core.tools.judge_call import CallVerdict
from tests.guidance.core.plans.test_matching import build_plan, decide, judge

_NUMBERS = st.integers(1, 3)
_FOLDERS = st.sampled_from(
    ["build-{}", "build/out-{}", "src-{}", "./build/out-{}", "build/../src-{}", "/b-{}"]
)
_PROGRAMS = st.sampled_from(
    ["rm -rf {}", "rm -rf {}", "rm -rf {} {}", "git clean -fdx {}"]
)
_ENDS = st.sampled_from(["", "", "", "", " src", "/..", " && ls", " # 1", "/*", "x"])


@st.composite
def commands(draw: st.DrawFn) -> str:
    program, folder = draw(_PROGRAMS), draw(_FOLDERS)
    places = [folder.format(draw(_NUMBERS)) for _ in range(program.count("{}"))]
    return program.format(*places)


@st.composite
def planned_steps(draw: st.DrawFn) -> ProposedStep:
    texts = draw(st.lists(commands(), min_size=1, max_size=2))
    calls = [
        ProposedCall(
            tool="Bash",
            command=text,
            shape=draw(st.sampled_from(["", "shape"])),
            count=draw(st.integers(1, 3)),
        )
        for text in texts
    ]
    # None, a folder of several, or the very folder that is planned.
    own = texts[0].split()[-1]
    paths = draw(st.sampled_from([(), ("build",), (own,)]))
    if any(map(find_path_problem, paths)):
        paths = ()
    return ProposedStep(purpose="p", calls=tuple(calls), paths=paths)


@st.composite
def plans_and_calls(draw: st.DrawFn) -> tuple[list[ProposedStep], list[str]]:
    """Most calls are near to what is planned: another number, or something behind it."""
    steps = draw(st.lists(planned_steps(), min_size=1, max_size=2))
    planned = [call.command or "" for step in steps for call in step.calls]
    near = st.tuples(st.sampled_from(planned), _NUMBERS, _ENDS).map(
        lambda it: re.sub(r"\d+", str(it[1]), it[0]) + it[2]
    )
    called = st.one_of(near, near, st.sampled_from(planned), commands())
    return steps, draw(st.lists(called, min_size=1, max_size=8))


def hide_numbers(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def is_below(word: str, path: str) -> bool:
    """For the paths of these tests: no more than a look at how it begins."""
    plain, above = word.removeprefix("./"), path.removeprefix("./")
    return plain == above or (plain.startswith(f"{above}/") and ".." not in plain)


def list_rules(verdict: CallVerdict) -> set[str | None]:
    return {name_asking_rule(finding) for finding in list_asking(verdict.findings)}


def forget_rules(plan: RunPlan) -> RunPlan:
    """As if nobody had been asked about anything in its first step."""
    first, *others = plan.steps
    calls = tuple(replace(call, rules=()) for call in first.calls)
    return replace(plan, steps=(replace(first, calls=calls), *others))


@given(it=plans_and_calls(), limit=st.integers(1, 6), forgets=st.booleans())
def test_no_call_strays_from_its_shape_path_count_or_rule(
    it: tuple[list[ProposedStep], list[str]], limit: int, forgets: bool
) -> None:
    steps, calls = it
    plan = build_plan(steps, tool_calls=limit)
    plan = forget_rules(plan) if forgets else plan
    uses: Counter[tuple[int, int]] = Counter()
    for text in calls:
        before = judge(text)
        after = decide(before, plan)
        facts = get_plan_facts(after, plan).get("plan")
        if before.decision == "block":
            assert (after, facts) == (before, None)
            continue
        assert facts is not None
        went_through = before.decision != after.decision
        if facts["step"] is None:
            assert not went_through
        else:
            # What goes through names its step, and the call is one that stands there.
            uses[facts["step"], facts["call"]] += 1
            step = steps[facts["step"] - 1]
            planned = step.calls[facts["call"] - 1]
            named = planned.command or ""
            assert planned.shape or text == named
            assert hide_numbers(text) == hide_numbers(named)
            assert not step.paths or all(
                any(is_below(word, path) for path in step.paths)
                for word in text.split()[2:]
                if not word.startswith("-")
            )
            asked_about = (
                set() if forgets and step is steps[0] else list_rules(judge(named))
            )
            assert list_rules(before) <= asked_about
            assert uses[facts["step"], facts["call"]] <= planned.count
            assert sum(uses.values()) <= limit
            assert after.decision == "allow" or not went_through
        plan = plan.count_call(facts)
    assert plan.used == sum(uses.values())
