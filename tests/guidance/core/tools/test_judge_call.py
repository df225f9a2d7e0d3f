"""Every gate is asked, every finding is kept, the worst one wins; trouble never allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from guidance.core.runs.usage import Budget, Usage
from guidance.core.tools import evidence as evidence_module
from guidance.core.tools import judge_call
from guidance.core.tools.calls import ToolCall, compute_call_digest
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.gates import ENFORCEMENT_GATES, INPUT_GATES
from guidance.core.tools.judge_call import FINDINGS_LIMIT, check_call_budget
from guidance.core.tools.permission_shapes import is_permittable
from tests.guidance.core.secrets.samples import body as drawn
from tests.guidance.core.tools.builders import (
    command,
    edit,
    judged,
    several,
    spoken,
    use,
)
from tests.support.rows import each_row

TOKEN = "gh" + "p_" + drawn(36)
PASSWORD = "q7" + "Zx"
MOON = {"name": "moon", "pattern": "moon", "message": "No moons"}


def fails(*_: object, **__: object) -> None:
    raise KeyError(TOKEN)


def test_nothing_found_is_an_allow() -> None:
    verdict = judged(command("ls"))
    assert (verdict.decision, verdict.findings, verdict.weight) == ("allow", (), 0)
    assert (verdict.shown, verdict.redacted) == ({"command": "ls"}, False)


def test_the_worst_one_wins_and_all_are_kept() -> None:
    warns = {**MOON, "name": "sun", "pattern": "sun", "decision": "warn"}
    verdict = judged(command("rm -rf moon sun"), patterns=[MOON, warns])
    assert verdict.decision == "require-confirmation"
    assert spoken(verdict) == ["destructive", "patterns", "patterns"]
    assert verdict.weight == 0.5 + 0.5 + 0.25


@each_row(
    ("decisions", "decision"),
    [
        ({}, "require-confirmation"),
        ({"delete-folder": "allow"}, "allow"),
        ({"delete-folder": "warn"}, "warn"),
        ({"delete-folder": "block"}, "block"),
        ({"delete-*": "warn"}, "warn"),
        ({"*": "block", "delete-*": "warn"}, "warn"),
        ({"delete-*": "block", "delete-folder": "warn"}, "warn"),
        ({"git-*": "allow"}, "require-confirmation"),
    ],
)
def test_the_policy_says_what_a_rule_leads_to(
    decisions: dict[str, str], decision: str
) -> None:
    verdict = judged(command("rm -rf moon"), rules=decisions)
    assert verdict.decision == decision
    assert len(verdict.findings) == (decision != "allow")


def test_the_policy_names_the_folders_that_tools_make_again() -> None:
    assert judged(command("rm -rf out"), disposable=["out"]).decision == "allow"
    asked = judged(command("rm -rf node_modules"), disposable=["out"])
    assert asked.decision == "require-confirmation"


def test_a_finding_says_how_bad_it_would_be() -> None:
    (finding,) = judged(command("mkfs.ext4 /dev/sda1")).findings
    assert finding.details["severity"] == "critical"


@pytest.mark.parametrize("name", [*INPUT_GATES, *ENFORCEMENT_GATES])
def test_a_gate_that_raises_holds_the_call_with_the_class_of_the_error(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table = INPUT_GATES if name in INPUT_GATES else ENFORCEMENT_GATES
    monkeypatch.setitem(table, name, fails)
    verdict = judged(command("ls"))
    assert verdict.decision == "require-confirmation"
    (finding,) = verdict.findings
    assert finding.gate == name
    assert finding.message == f"The {name} check could not be made (KeyError)"


def test_one_gate_in_trouble_silences_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(ENFORCEMENT_GATES, "diff_size", fails)
    verdict = judged(edit("moon"), patterns=[{**MOON, "decision": "block"}])
    assert (verdict.decision, spoken(verdict)) == ("block", ["diff_size", "patterns"])


@pytest.mark.parametrize("word", ["deny", "", "ALLOW"])
def test_a_gate_that_says_an_unknown_word_holds_the_call(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    odd = CallFinding(gate="patterns", decision=word, message="m")
    monkeypatch.setitem(ENFORCEMENT_GATES, "patterns", lambda *_: [odd])
    verdict = judged(command("ls"))
    assert verdict.decision == "require-confirmation"
    assert "(ValueError)" in verdict.findings[0].message


def test_evidence_that_cannot_be_made_holds_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(evidence_module, "plan_edits", fails)
    verdict = judged(several("a", ("a", "b")))
    assert verdict.decision == "require-confirmation"
    assert "(KeyError)" in verdict.findings[0].message
    assert verdict.preview is None


def test_a_redactor_that_raises_blocks_and_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judge_call, "redact", fails)
    verdict = judged(several("moon", ("moon", TOKEN)), patterns=[MOON])
    assert (verdict.decision, spoken(verdict)) == ("block", ["secrets"])
    assert verdict.findings[0].message.endswith("(KeyError)")
    assert (verdict.tool, verdict.shown, verdict.preview) == ("", {}, None)
    assert verdict.redacted is True
    assert TOKEN not in str(verdict.to_json())


def test_the_budget_stands_between_the_input_and_the_enforcement() -> None:
    verdict = judged(
        use("Write", command="rm -rf moon"),
        schemas={"Write": {"required": ["path"]}},
        allowlist={"enabled": True},
        patterns=[MOON],
    )
    finding = check_call_budget(
        budget=Budget(tokens=1), used=Usage(tokens=1), reserved=0
    )
    with_budget = verdict.add_finding(finding)
    order = ["schema", "budget", "destructive", "allowlist", "patterns"]
    assert spoken(with_budget) == order
    assert with_budget.decision == "block"
    assert verdict.add_finding(None) is verdict
    alone = judged(command("ls")).add_finding(finding)
    assert (alone.decision, spoken(alone)) == ("block", ["budget"])


@each_row(
    ("used", "reserved", "gone"),
    [
        (Usage(), 0, []),
        (Usage(tokens=9, tool_calls=1, time_ms=9, cost_micros=9), 0, []),
        (Usage(tokens=10), 0, ["tokens"]),
        (Usage(tool_calls=2), 0, ["tool_calls"]),
        (Usage(tool_calls=1), 1, ["tool_calls"]),
        (Usage(), 2, ["tool_calls"]),
        (Usage(time_ms=11), 0, ["time_ms"]),
        (Usage(cost_micros=10), 0, ["cost_usd"]),
        (Usage(tokens=10, cost_micros=10), 0, ["tokens", "cost_usd"]),
    ],
)
def test_the_budget_names_every_part_of_which_nothing_is_left(
    used: Usage, reserved: int, gone: list[str]
) -> None:
    budget = Budget(tokens=10, tool_calls=2, time_ms=10, cost_micros=10)
    finding = check_call_budget(budget=budget, used=used, reserved=reserved)
    assert (finding.details["used_up"] if finding else []) == gone
    no_limit = Budget(tokens=None, tool_calls=None, time_ms=None, cost_micros=None)
    assert check_call_budget(budget=no_limit, used=used, reserved=reserved) is None


def test_of_too_many_findings_the_worst_are_told_in_their_order() -> None:
    warns = {**MOON, "name": "sun", "pattern": "sun", "decision": "warn"}
    words = ["sun"] * 2 * FINDINGS_LIMIT + ["moon"] + ["sun"] * 5
    verdict = judged(use(words=words), patterns=[warns, MOON])
    assert verdict.decision == "require-confirmation"
    assert len(verdict.findings) == FINDINGS_LIMIT
    assert [f.decision for f in verdict.findings].count("require-confirmation") == 1
    assert verdict.findings[-1].details["argument"] == "/arguments/words/200"


def test_a_secret_is_neither_shown_nor_quoted() -> None:
    verdict = judged(
        command(f"rm -rf {TOKEN}", arguments={TOKEN: "moon", "x": f"moon {TOKEN}"}),
        patterns=[{**MOON, "pattern": "moon.*"}],
        schemas={"Bash": {"propertyNames": {"maxLength": 5}}},
        allowlist={"enabled": True},
    )
    assert verdict.decision == "block"
    assert verdict.redacted is True
    assert {"destructive", "patterns", "secrets"} <= set(spoken(verdict))
    told = str((verdict.to_json(), verdict.shown, verdict.tool))
    assert TOKEN[8:20] not in told
    for finding in verdict.findings:
        assert finding.details.get("span") is None


def test_a_tool_may_be_named_by_a_secret() -> None:
    verdict = judged(use(f"run {TOKEN}"), allowlist={"enabled": True})
    assert spoken(verdict) == ["allowlist", "secrets"]
    assert TOKEN[8:20] not in str((verdict.to_json(), verdict.tool))


@pytest.mark.parametrize("name", ["old", "new", "edits"])
def test_a_secret_in_an_argument_of_any_name_blocks(name: str) -> None:
    """What an edit looks for may hold one; an argument that is called so may not."""
    assert judged(use(**{name: TOKEN})).decision == "block"
    assert judged(use(edits=[{name: TOKEN}])).decision == "block"


def test_an_edit_may_take_a_secret_away_and_not_put_one_in() -> None:
    line = f'token = "{TOKEN}"\n'
    away = judged(several(line + "x\n", (line, 'token = env["TOKEN"]\n')))
    assert (away.decision, away.findings, away.redacted) == ("allow", (), True)
    assert TOKEN not in str((away.shown, away.preview))
    beside = judged(several(line + "x\n", ("x", "y")))
    assert beside.decision == "allow"
    assert TOKEN not in str(beside.preview)
    kept = judged(several(line, ("token =", "api_token =")))
    assert kept.decision == "allow"
    put = judged(several("x\n", ("x", line)))
    assert (put.decision, spoken(put)) == ("block", ["secrets"])


def test_a_secret_that_an_edit_puts_together_is_one() -> None:
    verdict = judged(several('password = "XX"\n', ("XX", PASSWORD)))
    assert (verdict.decision, spoken(verdict)) == ("block", ["secrets"])
    assert PASSWORD not in str((verdict.to_json(), verdict.shown, verdict.preview))


def test_lenient_reading_judges_what_was_read() -> None:
    text = "{command: 'rm -rf build'}"
    call = ToolCall(tool="Bash", arguments_json=text)
    strict = judged(call)
    assert (strict.decision, spoken(strict)) == ("block", ["arguments"])
    assert strict.shown == {"arguments_json": text}
    lenient = judged(call, lenient_arguments=["Bash"])
    assert lenient.decision == "require-confirmation"
    assert spoken(lenient) == ["arguments", "destructive"]
    assert lenient.shown == {"arguments": {"command": "rm -rf build"}}


def test_lines_left_out_are_counted_and_shown() -> None:
    verdict = judged(edit("x\n" * 301))
    assert spoken(verdict) == ["diff_size"]
    assert verdict.shown["diff_lines"] == 301
    assert judged(edit("x\n" * 301, diff_lines=1)).decision == "allow"
    assert judged(edit("x\n"), max_diff_lines=0).decision == "warn"


def test_a_commands_own_schema_sees_the_command() -> None:
    schema = {"Bash": {"required": ["command"]}}
    assert judged(command("ls"), schemas=schema).decision == "allow"
    assert spoken(judged(command("ls", arguments={}), schemas=schema)) == ["schema"]


def test_a_pattern_looks_at_every_text_and_at_nothing_else() -> None:
    section = {"patterns": [MOON]}
    for call in (
        command("to the moon"),
        use(a=[{"b": "moon"}]),
        edit("moon"),
        several("x", ("x", "moon")),
    ):
        (finding,) = judged(call, **section).findings
        assert finding.details["text"] == "moon"
        assert finding.details["rule"] == "moon"
    assert judged(use(moon="x"), **section).findings == ()
    assert judged(several("moon x", ("x", "y")), **section).findings == ()


def test_a_pattern_sees_the_name_of_the_tool() -> None:
    (finding,) = judged(use("fly_to_moon", a="x"), patterns=[MOON]).findings
    assert (finding.details["argument"], finding.details["text"]) == ("/tool", "moon")


@each_row("tool", ["deploy", "Deploy", "mcp__pay__invoice", "MCP__pay__send"])
def test_the_policy_names_tools_that_always_need_a_person(tool: str) -> None:
    verdict = judged(use(tool, a="x"), confirm=["deploy", "mcp__pay__*"])
    (finding,) = verdict.findings
    assert (verdict.decision, finding.gate) == ("require-confirmation", "confirm")
    assert tool in finding.message
    assert finding.details["by"] == "policy"
    assert not is_permittable(verdict.findings, always_ask=())


@each_row("tool", ["deployments", "redeploy", "mcp__pay", "mcp__payroll__list"])
def test_other_tools_need_none(tool: str) -> None:
    section = {"confirm": ["deploy", "mcp__pay__*"]}
    assert judged(use(tool), **section).decision == "allow"


def test_an_agent_may_wish_for_a_person_and_only_add_by_it() -> None:
    for call in (command("ls"), use(a="x"), edit(), several("x", ("x", "y"))):
        verdict = judged(replace(call, confirm=True))
        assert (verdict.decision, spoken(verdict)) == (
            "require-confirmation",
            ["confirm"],
        )
        assert not is_permittable(verdict.findings, always_ask=())
    both = judged(command("rm -rf build", confirm=True))
    assert spoken(both) == ["destructive", "confirm"]
    assert judged(use("a", confirm="no"), confirm=["b"]).decision == "allow"
    off = {"allowlist": {"enabled": True}}
    assert judged(command("ls", confirm=True), **off).decision == "block"


def test_a_wish_is_no_part_of_what_runs() -> None:
    digests = {
        compute_call_digest(command("ls", confirm=wish), run="r", key=None)
        for wish in (True, False)
    }
    assert len(digests) == 1


def test_what_a_message_names_is_cleaned_of_secrets() -> None:
    verdict = judged(command(f"rm -rf /srv/{TOKEN}"))
    said = repr(verdict.to_json())
    assert "Deletes" in said
    assert TOKEN not in said


@each_row(
    ("text", "may"),
    [
        ("rm -rf build", True),
        ("mkfs.ext4 /dev/sda1", False),  # always_ask
        ("curl x | sh", False),  # cannot be read
    ],
)
def test_a_finding_says_whether_a_permission_may_answer(
    text: str, *, may: bool
) -> None:
    for finding in judged(command(text)).findings:
        assert finding.details["permittable"] is may
    (warned,) = judged(command("rm notes.txt")).findings
    assert "permittable" not in warned.details


def test_a_finding_survives_its_document() -> None:
    for finding in judged(command("rm -rf build; curl x | sh")).findings:
        assert CallFinding.from_json(finding.to_json()) == finding
