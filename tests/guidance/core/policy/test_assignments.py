"""Matching runs: as a table, and against a plain reading of the same rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.policy.assignments import (
    Assignment,
    Match,
    RunFacts,
    find_assignment,
)

RUN = RunFacts(
    agent="robo", intent="docs", model="big-1", labels={"repo": "shop", "a:b": "c:d"}
)


@pytest.mark.parametrize(
    ("match", "fits"),
    [
        (Match(), True),
        (Match(agent="robo"), True),
        (Match(agent="rob"), False),
        (Match(agent="ROBO"), False),
        (Match(intent="docs"), True),
        (Match(intent="testing"), False),
        (Match(model="big-1"), True),
        (Match(model="big-"), False),
        (Match(model="big-*"), True),
        (Match(model="*"), True),
        (Match(model="big-1*"), True),
        (Match(model="big-2*"), False),
        (Match(label="repo:shop"), True),
        (Match(label="repo:sho"), False),
        (Match(label="repo"), False),
        (Match(label="a:b:c:d"), True),
        (Match(agent="robo", intent="docs", model="big-*", label="repo:shop"), True),
        (Match(agent="robo", intent="docs", model="big-*", label="repo:x"), False),
        (Match(agent="x", intent="docs", model="big-*", label="repo:shop"), False),
    ],
)
def test_all_that_is_named_has_to_fit(match: Match, fits: bool) -> None:
    assert match.fits(RUN) is fits


WORDS = st.sampled_from(["", "a", "ab", "b"])
MODELS = st.sampled_from(["", "a", "a*", "ab", "*", "b*"])
LABELS = st.sampled_from(["", "a:b", "b:a", "a:"])
MATCHES = st.builds(Match, agent=WORDS, intent=WORDS, model=MODELS, label=LABELS)
RUNS = st.builds(
    RunFacts,
    agent=WORDS,
    intent=WORDS,
    model=WORDS,
    labels=st.dictionaries(st.sampled_from("ab"), WORDS, max_size=2),
)


@given(st.lists(MATCHES, max_size=6), RUNS)
def test_the_first_that_fits_is_found(matches: list[Match], run: RunFacts) -> None:
    rows = [Assignment(match=each, policy=str(n)) for n, each in enumerate(matches)]
    expected = None
    for row in reversed(rows):
        named = row.match.to_json()
        label, model = named.get("label"), named.get("model")
        wrong = [
            "agent" in named and named["agent"] != run.agent,
            "intent" in named and named["intent"] != run.intent,
            label is not None
            and label not in [f"{k}:{v}" for k, v in run.labels.items()],
            model is not None
            and not (
                run.model.startswith(model.removesuffix("*"))
                if model.endswith("*")
                else model == run.model
            ),
        ]
        if not any(wrong):
            expected = row
    assert find_assignment(rows, run) is expected
