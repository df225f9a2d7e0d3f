"""Counted facts become recommendations: from when on, under which key, with what change."""

from __future__ import annotations

from typing import Any

from guidance.core.lessons import Counted, Lesson, list_lessons
from guidance.core.loop.learn_section import LearnSection
from guidance.core.policy import Policy, load_policy
from tests.guidance.core.policy.dumps import dump_part, dump_policy
from tests.guidance.core.policy.refusals import problems
from tests.support.rows import each_row

GATES = {
    "style": {"name": "Style", "severity": "high", "mode": "blocking"},
    "security": {"name": "Security", "severity": "critical"},
    "notes": {"name": "Notes", "severity": "low"},
}
PATTERNS = [
    {"name": name, "pattern": name, "decision": decision, "message": "m"}
    for name, decision in (
        ("deploy", "require-confirmation"),
        ("noise", "warn"),
        ("never", "block"),
    )
]


def taught(subject: str, name: str, times: int, of: int, **policy: Any) -> list[Lesson]:
    fact = Counted(subject=subject, name=name, times=times, of=of)
    return list(list_lessons(load_policy(policy), "default", [fact]))


@each_row(
    ("subject", "enough", "too_few", "too_seldom"),
    [
        ("gate-skipped", (9, 10), (9, 9), (7, 10)),
        ("rule-approved", (20, 20), (19, 19), (19, 20)),
        ("pause-approved", (20, 20), (19, 19), (20, 21)),
        ("loop-approved", (40, 40), (1, 1), (39, 40)),
        ("runs-failed", (6, 8), (7, 7), (5, 8)),
    ],
)
def test_it_takes_enough_cases_and_enough_of_them(
    subject: str,
    enough: tuple[int, int],
    too_few: tuple[int, int],
    too_seldom: tuple[int, int],
) -> None:
    (lesson,) = taught(subject, "it", *enough)
    assert f"{enough[0]} of {enough[1]}" in lesson.title
    assert lesson.key == f"{subject}/it"
    times, of = enough
    assert lesson.evidence == {
        "subject": subject,
        "name": "it",
        "times": times,
        "of": of,
        "days": 30,
    }
    assert "30 days" in lesson.detail
    assert "it" in lesson.change["advice"]
    for few in (too_few, too_seldom, (0, 0)):
        assert taught(subject, "it", *few) == []


def test_the_key_stays_while_the_figures_grow() -> None:
    first, later = (taught("runs-failed", "robo", n, n)[0] for n in (8, 800))
    assert first.key == later.key
    assert first.title != later.title


def test_the_policy_sets_the_thresholds_or_turns_it_off() -> None:
    learn = {"days": 7, "runs_failed": {"at_least": 2, "share": 0.5}}
    (lesson,) = taught("runs-failed", "robo", 1, 2, loop={"learn": learn})
    assert "7 days" in lesson.detail
    off = {**learn, "recommend": False}
    assert taught("runs-failed", "robo", 9, 9, loop={"learn": off}) == []


@each_row(
    ("subject", "name", "change"),
    [
        ("gate-skipped", "style", {"gates": {"style": {"mode": "advisory"}}}),
        # What guards against the worst, what holds nobody anyway, what is not in the
        # policy: for people to think about.
        ("gate-skipped", "security", None),
        ("gate-skipped", "notes", None),
        ("gate-skipped", "elsewhere", None),
        (
            "rule-approved",
            "deploy",
            {
                "tools": {
                    "patterns": [{**PATTERNS[0], "decision": "warn"}, *PATTERNS[1:]]
                }
            },
        ),
        ("rule-approved", "noise", None),
        ("rule-approved", "delete-folder", None),
    ],
)
def test_a_change_is_offered_only_where_the_policy_is_peoples_own(
    subject: str, name: str, change: dict[str, Any] | None
) -> None:
    own = {"gates": GATES, "tools": {"patterns": PATTERNS}}
    (lesson,) = taught(subject, name, 50, 50, **own)
    if change is None:
        assert set(lesson.change) == {"advice"}
    else:
        assert lesson.change == {"policy": "default", "set": change}


def test_names_are_only_ever_words() -> None:
    (lesson,) = taught("runs-failed", "{of} {0} {name.x} %s", 9, 9)
    assert "{of} {0} {name.x} %s" in lesson.title


def test_a_policy_without_the_section_has_its_defaults() -> None:
    old = dump_policy(Policy())
    loop = old["loop"]
    assert isinstance(loop, dict)
    assert loop.pop("learn") == dump_part(LearnSection())
    assert load_policy(old) == Policy()
    given = {"learn": {"days": 3, "gate_skipped": {"share": 0.5}}}
    policy = load_policy({"loop": given})
    assert load_policy(dump_policy(policy)) == policy
    assert policy.loop.learn.gate_skipped.at_least == 10


def test_what_it_may_not_say() -> None:
    wrong = {
        "days": 0,
        "recommend": "yes",
        "gate_skipped": {"share": 1.1, "at_least": 0},
        "runs_failed": {"more": 1},
        "other": {},
    }
    assert set(problems({"loop": {"learn": wrong}})) == {
        "loop.learn.days",
        "loop.learn.recommend",
        "loop.learn.gate_skipped.share",
        "loop.learn.gate_skipped.at_least",
        "loop.learn.runs_failed.more",
        "loop.learn.other",
    }
