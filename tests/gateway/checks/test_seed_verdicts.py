"""Rows VR and GS of the seed's scenarios, at the doors.

VR-36 and VR-37 are about a client's hooks, not about these doors. VR-38 (the last of
several verdicts wins) gave way to: the first one wins, and a PASS beside a FAIL is none.
"""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import httpx
import pytest

from accounts.models import Project
from guidance.core.checks import FORMS, GateVerdict, Verdict, render_verdict
from tests.gateway.calls.calls import rule
from tests.gateway.checks.test_flows import fail, open_new_check, say
from tests.support.builders import make_policy, start_run
from tests.support.problems import fields, problem
from tests.support.rows import each_row

pytestmark = pytest.mark.once(
    "judges texts; how verdicts are stored is tested in test_flows and test_turns"
)

THREE = "[1] PASS - Clean\n[2] FAIL - No test\n[3] PASS - Described"
GATES = {
    "strict": {
        "mode": "blocking",
        "criteria": ["Every test passes"],
        "retry": {"max_attempts": 3},
    },
    "hasty": {"severity": "critical", "retry": {"max_attempts": 1}},
    "mild": {"severity": "high", "guidance": "Run the linter.\nThen read on."},
    "quiet": {"severity": "low", "description": "The log is kept"},
}


@pytest.fixture
def run(agent: httpx.Client, project: Project) -> str:
    make_policy("seed", project=project, gates=GATES)
    return start_run(agent, policy="seed")


def ask(agent: httpx.Client, run: str, *gates: str, **more: Any) -> dict[str, Any]:
    return open_new_check(agent, run, *gates, step=0, **more)


def read(agent: httpx.Client, text: str) -> dict[str, Any]:
    answer = agent.post("/evaluate/verdict", json={"text": text})
    assert answer.status_code == 200, answer.text
    verdict: dict[str, Any] = answer.json()
    return verdict


def get_refusal(agent: httpx.Client, text: str) -> str:
    answer = agent.post("/evaluate/verdict", json={"text": text})
    body = problem(answer, "invalid")
    assert body["accepted_forms"] == list(FORMS)
    detail: str = body["detail"]
    return detail


def block(agent: httpx.Client, lines: str, header: str = "GATE_VERDICTS") -> Any:
    verdict = read(agent, f"GATE_REVIEW: FAIL - Not all\n{header}\n{lines}")
    return [(one["index"], one["passed"]) for one in verdict["per_gate"]]


def give(agent: httpx.Client, run: str, check: dict[str, Any], **body: Any) -> Any:
    return agent.post(f"/runs/{run}/gate-checks/{check['id']}/verdicts", json=body)


def stands(agent: httpx.Client, run: str, check: dict[str, Any]) -> dict[str, Any]:
    body: dict[str, Any] = agent.get(f"/runs/{run}/gate-checks/{check['id']}").json()
    return body


@each_row(
    ("text", "form"),
    [
        pytest.param("GATE_REVIEW: {} - Because", "gate_review", id="VR-01"),
        pytest.param("GATE_REVIEW: {} : Because", "gate_review_colon", id="VR-02"),
        pytest.param("GATE {} - Because", "gate", id="VR-03"),
        pytest.param("GATE {} : Because", "gate_colon", id="VR-04"),
        pytest.param("gate_review: {} -  Because ", "gate_review", id="VR-05-10"),
        pytest.param("{} - Because", "bare", id="VR-06"),
        pytest.param(
            "I read it.\n\nGATE_REVIEW: {} - Because\nDone.", "gate_review", id="VR-07"
        ),
        pytest.param("GATE_REVIEW: {} — Because", "gate_review", id="VR-39-em"),
        pytest.param("GATE_REVIEW: {} – Because", "gate_review", id="VR-39-en"),
        pytest.param("**GATE_REVIEW: {}** - Because", "gate_review", id="VR-39-bold"),
        pytest.param("`GATE_REVIEW: {} - Because`", "gate_review", id="VR-39-ticks"),
    ],
)
@each_row("word", ["PASS", "FAIL", "pass", "Fail"])
def test_a_form_that_is_read(
    agent: httpx.Client, text: str, form: str, word: str
) -> None:
    assert read(agent, text.format(word)) == {
        "overall": word.upper(),
        "rationale": "Because",
        "per_gate": [],
        "form": form,
    }


@each_row(
    "text",
    [
        pytest.param("I looked.\nPASS - OK", id="VR-06-in-free-text"),
        pytest.param("", id="VR-08-empty"),
        pytest.param("All criteria are met.", id="VR-08-other"),
        pytest.param("meets all criteria", id="VR-08-implied"),
        pytest.param("not sure it passes review", id="VR-08-unsure"),
        pytest.param("GATE_REVIEW: PASS", id="VR-09"),
        pytest.param("GATE FAIL -", id="VR-09-dash"),
        pytest.param("GATE_REVIEW: MAYBE - x", id="VR-20"),
        pytest.param(
            f"GATE_REVIEW: PASS - ok\nGATE_VERDICTS\n{THREE}", id="VR-40-block"
        ),
        pytest.param(
            "GATE_REVIEW: PASS - ok\n\nGATE_REVIEW: FAIL - no", id="VR-38-both"
        ),
    ],
)
def test_what_is_not_read_is_refused_with_the_forms(
    agent: httpx.Client, text: str
) -> None:
    assert get_refusal(agent, text).startswith("This is no verdict. ")


@each_row(
    ("lines", "header", "entries"),
    [
        pytest.param(THREE, "GATE_VERDICTS", [True, False, True], id="VR-11"),
        pytest.param("1 PASS - a\n2 FAIL - b", "GATE_VERDICTS", [True, False], id="12"),
        pytest.param(
            "[1] PASS — a\n[2] FAIL – b", "GATE_VERDICTS", [True, False], id="13"
        ),
        pytest.param(
            "[1] PASS - a\nhm\n[2] PASS - b", "GATE_VERDICTS", [True], id="14"
        ),
        pytest.param("", "GATE_VERDICTS", [], id="VR-15"),
        pytest.param(THREE, "CRITERION_VERDICTS", [True, False, True], id="VR-16"),
    ],
)
def test_a_block(
    agent: httpx.Client, lines: str, header: str, entries: list[bool]
) -> None:
    assert block(agent, lines, header) == list(enumerate(entries, 1))


@each_row("count", [1, 2, 5, 12, 40])
def test_vr_17_an_object_and_its_text_say_the_same(
    agent: httpx.Client, run: str, count: int
) -> None:
    rationale = "a - b: c, after GATE_VERDICTS and [1] FAIL - x"
    inline = [{"id": f"gate-{n}", "mode": "informational"} for n in range(count)]
    verdict = Verdict(
        overall="FAIL",
        rationale=rationale,
        per_gate=tuple(
            GateVerdict(index=n, passed=n % 2 == 0, rationale=rationale)
            for n in range(1, count + 1)
        ),
    )
    document = verdict.to_json()
    del document["form"]
    check = ask(agent, run, inline=inline)
    assert give(agent, run, check, **document).json()["outcome"] == "logged"
    entry = json.loads(agent.get(f"/runs/{run}/ledger").text.splitlines()[-1])
    assert entry["payload"]["verdict"] == document | {"form": "structured"}
    assert read(agent, render_verdict(verdict)) == document | {"form": "gate_review"}


def entry(**changes: Any) -> dict[str, Any]:
    return {"index": 1, "passed": False, "rationale": "No", **changes}


@each_row(
    ("body", "field"),
    [
        pytest.param({"rationale": "a\nb"}, "rationale", id="VR-18-newline"),
        pytest.param({"rationale": "  "}, "rationale", id="VR-18-empty"),
        pytest.param({"rationale": None}, "rationale", id="VR-18-missing"),
        pytest.param({"per_gate": [entry(index=0)]}, "per_gate.0.index", id="VR-19"),
        pytest.param(
            {"per_gate": [entry(index=1.5)]}, "per_gate.0.index", id="19-half"
        ),
        pytest.param(
            {"per_gate": [entry(index=2)]}, "per_gate.0.index", id="19-beyond"
        ),
        pytest.param({"overall": "MAYBE"}, "overall", id="VR-20"),
        pytest.param({"overall": "pass"}, "overall", id="VR-20-small"),
        pytest.param(
            {"overall": "PASS", "per_gate": [entry()]}, "per_gate.0.passed", id="VR-40"
        ),
    ],
)
def test_an_object_that_is_refused(
    agent: httpx.Client, run: str, body: dict[str, Any], field: str
) -> None:
    check = ask(agent, run, "strict")
    sound = {"overall": "FAIL", "rationale": "No"}
    answer = give(agent, run, check, **{**sound, **body})
    assert field in fields(problem(answer, "invalid"))
    assert stands(agent, run, check)["attempt"] == 1


def test_vr_21_padding_is_trimmed(agent: httpx.Client, run: str) -> None:
    check = ask(agent, run, "strict")
    told = give(agent, run, check, overall="FAIL", rationale="  No test \t").json()
    assert told["previous_feedback"] == "No test"


def test_vr_22_nothing_was_tried_yet(agent: httpx.Client, project: Project) -> None:
    """Where nothing is said, two attempts."""
    make_policy("plain", project=project, gates={"plain": {"mode": "blocking"}})
    run = start_run(agent, policy="plain")
    check = ask(agent, run, "plain")
    assert (check["attempt"], check["max_attempts"]) == (1, 2)
    assert check["attempts_left"] == 2


def test_vr_23_to_27_every_fail_counts_and_the_last_one_asks_a_person(
    agent: httpx.Client, run: str
) -> None:
    """VR-41: each of them reaches the server, none is refused."""
    check = ask(agent, run, "strict")
    told = [fail(agent, run, check) for _ in range(3)]
    assert [one["outcome"] for one in told] == ["retry", "retry", "exhausted"]
    assert [one["attempt"] for one in told] == [2, 3, 3]
    assert [one["attempts_left"] for one in told] == [2, 1, 0]
    assert [one["review"] is None for one in told] == [True, True, False]
    assert told[-1]["prompt"] is None
    assert stands(agent, run, check)["status"] == "exhausted"


def test_vr_25_a_pass_clears_the_check_and_counts_nothing(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "strict")
    fail(agent, run, check)
    told = say(agent, run, check, "GATE_REVIEW: PASS - Green").json()
    assert (told["outcome"], told["attempts_left"]) == ("passed", 2)
    assert told["review"] is None
    assert agent.get(f"/runs/{run}").json()["status"] == "running"


@pytest.mark.parametrize(
    ("gate", "outcome", "warnings"),
    [
        pytest.param("mild", "warned", 1, id="VR-28"),
        pytest.param("quiet", "logged", 0, id="VR-29"),
    ],
)
def test_milder_modes_let_the_run_go_on(
    agent: httpx.Client, run: str, gate: str, outcome: str, warnings: int
) -> None:
    told = fail(agent, run, ask(agent, run, gate))
    assert told["outcome"] == outcome
    assert len(told["advisory_warnings"]) == warnings
    assert agent.get(f"/runs/{run}").json()["status"] == "running"


@each_row(
    ("severity", "mode"),
    [
        ("critical", "blocking"),
        ("high", "advisory"),
        ("medium", "advisory"),
        ("low", "informational"),
        (None, "advisory"),
    ],
)
def test_vr_30_a_mode_that_is_not_said_follows_from_the_severity(
    agent: httpx.Client, run: str, severity: str | None, mode: str
) -> None:
    """It was blocking whatever the severity; a gate that is to block says so."""
    gate = {"id": "own"} | ({"severity": severity} if severity else {})
    assert ask(agent, run, inline=[gate])["enforcement_mode"] == mode


def test_vr_31_retry_counts_from_the_start(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "hasty")
    rule(reviewer, fail(agent, run, check), "retry", note="Look at the clock")
    now = stands(agent, run, check)
    assert (now["status"], now["attempt"], now["attempts_left"]) == ("open", 1, 1)
    assert now["guidance"] == "Look at the clock"


def test_vr_32_skip_lets_the_run_go_on_without_a_pass(
    agent: httpx.Client, reviewer: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "hasty")
    rule(reviewer, fail(agent, run, check), "skip", note="Known flake")
    assert stands(agent, run, check)["status"] == "skipped"
    assert agent.get(f"/runs/{run}").json()["status"] == "running"
    problem(say(agent, run, check, "PASS - after all"), "already-ruled")


def test_vr_33_and_43_abort_is_the_end(
    agent: httpx.Client, manager: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "hasty")
    rule(manager, fail(agent, run, check), "abort")
    assert stands(agent, run, check)["status"] == "aborted"
    assert agent.get(f"/runs/{run}").json()["status"] == "aborted"
    problem(manager.post(f"/runs/{run}/reopen", json={"reason": "x"}), "run-closed")


@pytest.mark.parametrize("action", ["approve", "deny", "answer", "amend", "pass"])
def test_vr_34_another_action_is_refused(
    agent: httpx.Client, reviewer: httpx.Client, run: str, action: str
) -> None:
    check = ask(agent, run, "hasty")
    more = {"answer": "x"} if action == "answer" else {}
    refusal = rule(reviewer, fail(agent, run, check), action, note="x", **more)
    problem(refusal, "invalid")
    assert stands(agent, run, check)["status"] == "exhausted"


@pytest.mark.parametrize(
    ("gate", "hints"),
    [
        ("strict", ["Every test passes"]),
        ("mild", ["Run the linter."]),
        ("quiet", ["The log is kept"]),
        ("hasty", []),
    ],
)
def test_vr_35_hints_are_criteria_else_guidance_else_the_description(
    agent: httpx.Client, run: str, gate: str, hints: list[str]
) -> None:
    assert fail(agent, run, ask(agent, run, gate))["hints"] == hints


@each_row("gates", list(permutations(["strict", "hasty", "quiet"])))
def test_vr_42_and_gs_12_the_strictest_of_several_in_any_order(
    agent: httpx.Client, run: str, gates: tuple[str, ...]
) -> None:
    check = ask(agent, run, *gates)
    assert check["gates"] == list(gates)
    assert (check["enforcement_mode"], check["max_attempts"]) == ("blocking", 1)


def test_gs_01_the_same_gate_twice_counts_once(agent: httpx.Client, run: str) -> None:
    own = {"id": "own", "name": "Own"}
    check = ask(agent, run, "mild", "mild", inline=[own, own])
    assert check["gates"] == ["mild", "own"]


def test_gs_02_a_checks_own_gate_removes_none_of_the_policy(
    agent: httpx.Client, run: str
) -> None:
    check = ask(agent, run, "strict", inline=[{"id": "own", "mode": "informational"}])
    assert (check["gates"], check["enforcement_mode"]) == (
        ["strict", "own"],
        "blocking",
    )


@pytest.mark.parametrize("name", ["", "  ", "none", "Strict"])
def test_gs_03_an_id_that_is_blank_or_unknown_is_refused_not_skipped(
    agent: httpx.Client, run: str, name: str
) -> None:
    body = {"step": 0, "gates": ["strict", name]}
    refusal = agent.post(f"/runs/{run}/gate-checks", json=body)
    assert fields(problem(refusal, "invalid")) == ["gates.1"]
