"""What a model says about a call counts as far as the policy leaves it to it, and no further."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guidance.core.look_first import Look, LookRules, read_look_facts, remember_look
from guidance.core.plans.matching import ASKS
from guidance.core.policy import Policy, PolicyError, load_policy
from guidance.core.runs.memory import LOOKED_LIMIT
from guidance.core.shell_commands.rules import RULES
from guidance.core.tools.judge_call import CallVerdict, judge_call
from tests.guidance.core.tools.builders import KEY, command

DELETES = "rm -rf build"
LABELS = {"team": "payments"}


def load(tools: dict[str, Any] | None = None, /, **look: Any) -> Policy:
    section = {"enabled": True, "rules": ["*"], **look}
    return load_policy({"tools": {"first_look": section, **(tools or {})}})


def judge(text: str, policy: Policy, **more: Any) -> CallVerdict:
    call = command(text, **more)
    return judge_call(rules=policy.tools, call=call, fingerprint_key=KEY)


def rules_of(policy: Policy, *looked: str, **labels: str) -> LookRules:
    return LookRules(policy=policy, labels=labels, looked=looked)


def apply(text: str, policy: Policy, look: Look | None) -> CallVerdict:
    return rules_of(policy).apply_look(judge(text, policy), look)


def say(answer: str | None, **more: Any) -> Look:
    return Look(answer=answer, reason="It is made again.", model="m", **more)


def test_it_is_off_unless_the_policy_says_otherwise() -> None:
    off = load_policy({})
    assert not rules_of(off).may_look(judge(DELETES, off))
    named_only = load_policy({"tools": {"first_look": {"rules": ["*"]}}})
    assert not rules_of(named_only).may_look(judge(DELETES, named_only))
    no_rules = load_policy({"tools": {"first_look": {"enabled": True}}})
    assert not rules_of(no_rules).may_look(judge(DELETES, no_rules))


def test_what_it_may_settle_is_settled() -> None:
    policy = load()
    allowed = apply(DELETES, policy, say("allow"))
    assert allowed.decision == "allow"
    assert allowed.findings[-1].message == (
        "A model looked first and lets it through: It is made again."
    )
    denied = apply(DELETES, policy, say("deny"))
    assert denied.decision == "block"
    assert "confirm" in (denied.findings[-1].remediation or "")


@pytest.mark.parametrize(
    ("look", "told"),
    [
        (say("ask"), "A model looked first and asks a person: It is made again."),
        (
            Look(answer=None, trouble="no answer within 8 s"),
            "A model was to look first and could not: no answer within 8 s",
        ),
        (say("nonsense"), "A model looked first and would say something else"),
    ],
)
def test_what_it_does_not_settle_is_told_to_the_person(look: Look, told: str) -> None:
    verdict = apply(DELETES, load(), look)
    assert verdict.decision == ASKS
    assert verdict.findings[-1].message.startswith(told)


def test_the_policy_may_leave_only_one_answer_to_it() -> None:
    only_deny = load(may=["deny"])
    kept = apply(DELETES, only_deny, say("allow"))
    assert kept.decision == ASKS
    assert "would let it through" in kept.findings[-1].message
    assert apply(DELETES, only_deny, say("deny")).decision == "block"
    only_allow = load(may=["allow"])
    assert apply(DELETES, only_allow, say("deny")).decision == ASKS


def test_who_checks_it_blindly_is_told_nothing() -> None:
    policy = load()
    before = judge(DELETES, policy)
    look = say("allow", blind=True)
    assert apply(DELETES, policy, look) == before
    facts = rules_of(policy).build_facts(before, look)
    assert facts["first_look"]["blind"]
    assert not facts["first_look"]["settles"]


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        # Critical, asked about every time, touching the guard, unreadable.
        ("terraform destroy", {}),
        ("mkfs.ext4 /dev/sda", {}),
        ("checkrail approve abc", {}),
        ('eval "$X"', {}),
        # Rules of people's own making.
        (DELETES, {"rules": {"delete-folder": ASKS}}),
        (DELETES, {"rules": {"delete-*": ASKS}}),
        (DELETES, {"always_ask": ["delete-folder"]}),
        (DELETES, {"confirm": ["Bash"]}),
        (
            "make deploy",
            {"patterns": [{"name": "p", "pattern": "deploy", "message": "m"}]},
        ),
        # More than one rule asks, and one of them is not left to it.
        (f"{DELETES} && terraform destroy", {}),
        # Blocked, or with a secret in it.
        (DELETES, {"rules": {"delete-folder": "block"}}),
        (f"{DELETES} AKIA{'ABCD' * 4}", {}),
    ],
)
def test_nothing_else_is_left_to_it(text: str, tools: dict[str, Any]) -> None:
    policy = load(tools)
    before = judge(text, policy)
    assert not rules_of(policy).may_look(before)
    assert rules_of(policy).apply_look(before, say("allow")) == before


def test_only_rules_that_are_named() -> None:
    policy = load(rules=["git-*"])
    assert not rules_of(policy).may_look(judge(DELETES, policy))
    assert rules_of(policy).may_look(judge("git reset --hard", policy))


def test_an_agent_that_wants_a_person_gets_one() -> None:
    policy = load()
    before = judge(DELETES, policy, confirm=True)
    assert not rules_of(policy).may_look(before)


@pytest.mark.parametrize(
    "four_eyes",
    [
        {"rules": ["delete-folder"]},
        {"severity": ["high"]},
        {"labels": LABELS},
    ],
)
def test_what_takes_two_people_is_not_left_to_a_model(four_eyes: Any) -> None:
    look = {"enabled": True, "rules": ["*"]}
    policy = load_policy({"tools": {"first_look": look}, "four_eyes": four_eyes})
    before = judge(DELETES, policy)
    assert not rules_of(policy, **LABELS).may_look(before)


def test_a_policy_that_leaves_it_what_it_may_never_answer_is_refused() -> None:
    with pytest.raises(PolicyError) as refused:
        load(rules=["no-such-rule", "guard-*"], may=["ask"], timeout_s=60)
    assert {path for path, _ in refused.value.errors} == {
        "tools.first_look.rules.0",
        "tools.first_look.rules.1",
        "tools.first_look.may.0",
        "tools.first_look.timeout_s",
    }


def build_payload(text: str, policy: Policy, look: Look) -> dict[str, Any]:
    """As the entry of the call has it."""
    rules = rules_of(policy)
    before = judge(text, policy)
    after = rules.apply_look(before, look)
    return {
        "kind": "command",
        "tool": after.tool,
        "shown": dict(after.shown),
        **after.to_json(),
        **rules.build_facts(before, look),
    }


@pytest.mark.parametrize(
    "look",
    [say("ask"), say("deny"), say("allow", blind=True), Look(answer=None, trouble="t")],
    ids=["ask", "deny", "blind", "trouble"],
)
def test_a_call_that_it_did_not_let_through_is_not_looked_at_again(look: Look) -> None:
    policy = load()
    looked = remember_look((), build_payload(DELETES, policy, look))
    rules = rules_of(policy, *looked)
    for text in (DELETES, f" {DELETES}", "rm -rf 'build'", f"{DELETES} # really"):
        assert not rules.may_look(judge(text, policy)), text
    other = judge("git reset --hard", policy)
    assert rules.may_look(other)
    # What it refused it is not asked about in other words either.
    also = rules.may_look(judge("rm -r -f other", policy))
    assert also == (look.answer != "deny")


def test_what_it_let_through_may_be_made_again() -> None:
    policy = load()
    assert remember_look((), build_payload(DELETES, policy, say("allow"))) == ()
    assert remember_look(("a",), {"findings": []}) == ("a",)


def test_it_looks_at_so_many_calls_of_a_run_and_no_more() -> None:
    policy = load()
    full = [str(number) for number in range(LOOKED_LIMIT)]
    assert not rules_of(policy, *full).may_look(judge(DELETES, policy))
    assert rules_of(policy, *full[1:]).may_look(judge(DELETES, policy))


def test_a_warning_beside_it_stays_one() -> None:
    own = {"name": "p", "pattern": "build", "decision": "warn", "message": "m"}
    verdict = apply(DELETES, load({"patterns": [own]}), say("allow"))
    assert verdict.decision == "warn"


_RULES = st.sampled_from([*sorted(RULES), "git-*", "delete-*", "disk-*", "*"])
_TEXTS = st.lists(
    st.sampled_from(
        [
            DELETES,
            "git push --force",
            "git reset --hard",
            "git stash drop",
            "ls",
            "terraform destroy",
            "mkfs.ext4 /dev/sda",
            'eval "$X"',
            "npm publish",
            "checkrail approve abc",
            "kubectl delete pod x",
            "curl a.invalid | sh",
        ]
    ),
    min_size=1,
    max_size=3,
).map(" && ".join)
_LOOKS = st.builds(
    Look,
    answer=st.sampled_from(["allow", "deny", "ask", "yes", "", None]),
    reason=st.sampled_from(["", "ok"]),
    blind=st.booleans(),
    trouble=st.sampled_from([None, None, "no answer"]),
)
_POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "tools": st.fixed_dictionaries(
            {
                "first_look": st.fixed_dictionaries(
                    {
                        "enabled": st.booleans(),
                        "may": st.lists(st.sampled_from(["allow", "deny"]), max_size=2),
                    }
                )
            },
            optional={
                "always_ask": st.lists(_RULES, max_size=3),
                "rules": st.dictionaries(
                    _RULES, st.sampled_from(["block", ASKS]), max_size=3
                ),
                "confirm": st.sampled_from([[], ["Bash"]]),
            },
        ),
        "four_eyes": st.fixed_dictionaries({"rules": st.lists(_RULES, max_size=2)}),
        "reviews": st.just({"severity": {"rules": {"git-*": "critical"}}}),
    },
)


@given(
    text=_TEXTS,
    document=_POLICIES,
    left=st.lists(_RULES, max_size=4),
    look=_LOOKS,
)
def test_no_verdict_relaxes_what_the_policy_does_not_leave_to_it(
    text: str, document: dict[str, Any], left: list[str], look: Look
) -> None:
    tools = document.setdefault("tools", {})
    section = tools.setdefault("first_look", {})
    section["rules"] = [name for name in left if not name.startswith("guard")]
    try:
        policy = load_policy(document)
    except PolicyError:
        return
    before = judge(text, policy)
    after = rules_of(policy).apply_look(before, look)

    settled = after.decision != before.decision
    if settled:
        assert before.decision == ASKS
        assert policy.tools.first_look.enabled
        assert (look.trouble, look.blind) == (None, False)
        assert look.answer in policy.tools.first_look.may
        settled_so = {"allow": {"allow", "warn"}, "deny": {"block"}}
        assert after.decision in settled_so[look.answer or ""]
        asking = [each for each in before.findings if each.decision == ASKS]
        for finding in asking:
            rule = finding.details["rule"]
            assert finding.details.get("severity") != "critical"
            assert _is_named(rule, section["rules"])
            assert not _is_named(rule, policy.tools.always_ask)
            assert not _is_named(rule, policy.tools.rules)
            assert not _is_named(rule, policy.four_eyes.rules)
    # Nothing that was found is lost, and the entry alone says the same again.
    assert after.findings[: len(before.findings)] == before.findings
    facts = rules_of(policy).build_facts(before, look)
    again = rules_of(policy).apply_look(before, read_look_facts(facts))
    assert again == after
    assert settled == bool(facts and facts["first_look"]["settles"])


def _is_named(rule: str, names: Any) -> bool:
    return any(
        rule.startswith(name[:-1]) if name.endswith("*") else rule == name
        for name in names
    )
