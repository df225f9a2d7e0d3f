"""The command line: in the process where output matters, as a program where it is one."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from checkrail import Checkrail
from checkrail.cli.login_file import get_login_path
from checkrail.cli.main import main
from checkrail.cli.safe_text import make_one_line, make_visible
from checkrail.people import Desk
from django.utils import timezone

from ledger.models import Run
from reviews.models import AgentWait, Review
from tests.support.builders import Person, Robot, start_run, step
from tests.support.live import Live

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def nobody_signed_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CHECKRAIL_URL", "CHECKRAIL_KEY", "CHECKRAIL_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CHECKRAIL_CONFIG", str(tmp_path / "login.json"))


@pytest.fixture
def signed_in(monkeypatch: pytest.MonkeyPatch, live: Live, bob: Person) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{bob.token}\n"))
    assert main(["login", "--url", live.url, "--token-stdin"]) == 0


def test_signing_in_saves_only_what_the_server_accepts(
    monkeypatch: pytest.MonkeyPatch, live: Live, bob: Person, capsys: Captured
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("crt_wrong\n"))
    assert main(["login", "--url", live.url, "--token-stdin"]) == 1
    assert "does not know this token" in capsys.readouterr().err
    assert not get_login_path().exists()
    assert main(["queue"]) == 2
    assert "checkrail login" in capsys.readouterr().err

    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{bob.token}\n"))
    assert main(["login", "--url", live.url, "--token-stdin"]) == 0
    assert stat.S_IMODE(get_login_path().stat().st_mode) == 0o600
    assert main(["queue"]) == 0
    assert "Nobody waits for you." in capsys.readouterr().out
    assert main(["logout"]) == 0
    assert not get_login_path().exists()


@pytest.mark.usefixtures("signed_in")
def test_a_saved_token_goes_to_its_own_server_alone(
    monkeypatch: pytest.MonkeyPatch, live: Live, capsys: Captured
) -> None:
    """A project's environment may name another one, for its agents."""
    monkeypatch.setenv("CHECKRAIL_URL", f"{live.url}/")
    assert main(["queue"]) == 0
    monkeypatch.setenv("CHECKRAIL_URL", "http://127.0.0.1:9")
    assert main(["queue"]) == 2
    assert f"signed in to {live.url}" in capsys.readouterr().err


@pytest.mark.usefixtures("signed_in")
def test_a_pause_is_approved_for_the_next_steps_and_that_is_taken_back(
    agent: httpx.Client, desk: Desk, capsys: Captured
) -> None:
    run = start_run(agent)
    body = step(1, uncertainty=0.9)
    review = agent.post(f"/runs/{run}/steps", json=body).json()["review"]["id"]
    asked = ["approve", review, "--yes", "--steps", "5", "--up-to", "0.9"]
    assert main([*asked[:-1], "0.99"]) == 1
    assert "at most 0.95" in capsys.readouterr().err
    assert main(asked) == 0
    (allowance,) = desk.run(run).allowances
    assert (allowance.gate, allowance.steps_left) == ("uncertainty", 5)
    body = step(2, uncertainty=0.9)
    went_on = agent.post(f"/runs/{run}/steps", json=body).json()
    assert went_on["findings"][0]["allowance"] == allowance.id

    assert main(["revoke", run, "rework"]) == 1
    assert main(["revoke", run]) == 0
    assert "The run asks again." in capsys.readouterr().out
    assert desk.run(run).allowances == ()
    given = desk.review(review).allowance
    assert given is not None
    assert given.state == "revoked"


@pytest.mark.usefixtures("signed_in")
def test_a_review_is_listed_shown_and_ruled(
    rail: Checkrail, desk: Desk, capsys: Captured
) -> None:
    run = rail.run("Clean \x1b[31mup\u202e")
    call = run.judge_call("command", tool="Bash", command="rm -rf ./src\x1b[2K\u200b")
    assert call.review is not None
    ending = call.review.id[-8:]
    assert main(["queue"]) == 0
    listed = capsys.readouterr().out
    assert ending in listed
    assert "confirmation" in listed
    assert main(["runs"]) == 0
    assert "⟨U+001B⟩[31mup⟨U+202E⟩" in capsys.readouterr().out

    assert main(["show", ending]) == 0
    shown = capsys.readouterr().out
    assert "rm -rf ./src" in shown
    assert "\x1b" not in shown
    assert "You may: approve, amend, deny, abort" in shown

    # What would run, and why it is asked about, in words and before everything else.
    assert (
        shown.index("rm -rf ./src") < shown.index("destructive") < shown.index("call:")
    )
    assert '{"' not in shown
    assert '"span"' not in shown

    assert main(["approve", ending]) == 1  # nobody is there to say yes
    assert "--yes" in capsys.readouterr().err
    assert desk.review(call.review.id).state == "open"
    assert main(["approve", ending, "--yes", "--note", "Go"]) == 0
    told = capsys.readouterr().out
    assert "ruled by bob" in told
    assert "The agent has it now" not in told
    assert run.standing(call.review).state == "ruled"
    assert main(["abort", call.review.id, "--yes"]) == 1
    assert "already" in capsys.readouterr().err.lower()
    assert main(["approve", "ffffffff", "--yes"]) == 1
    assert "no open review" in capsys.readouterr().err
    run.close()


@pytest.mark.usefixtures("signed_in")
def test_programs_get_json_and_answers_go_through(
    rail: Checkrail, capsys: Captured
) -> None:
    run = rail.run("Asks")
    review = run.open_review("question", "Which branch?")
    capsys.readouterr()
    assert main(["queue", "--json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)
    assert item["id"] == review.id
    assert main(["answer", review.id, "main", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ruling"]["answer"] == "main"
    assert run.wait(review).answer == "main"
    assert main(["runs", "--json", "--limit", "1"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["id"] == run.id
    run.close()


@pytest.mark.usefixtures("signed_in")
def test_a_changed_call_is_let_run(rail: Checkrail, capsys: Captured) -> None:
    run = rail.run("Cleans up")
    asked = run.judge_call("command", tool="Bash", command="rm -rf ./src")
    assert asked.review is not None
    amend = ["amend", asked.review.id, "--yes", "--command", "make clean"]
    assert main(amend) == 0
    shown = capsys.readouterr().out
    assert shown.index("rm -rf ./src") < shown.index("digest")
    assert run.resume_call(asked.id).command == "make clean"
    assert main(["amend", asked.review.id, "--yes", "--arguments", "{"]) == 1
    assert "no JSON" in capsys.readouterr().err
    run.close()


@pytest.mark.usefixtures("signed_in")
def test_a_run_is_followed_to_its_end(rail: Checkrail, capsys: Captured) -> None:
    with rail.run("Followed") as run:
        run.step(tokens=10, tool_calls=1, summary="Looked around")
    assert main(["tail", run.id[-8:]]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[2] for line in lines if line.split()[0].isdigit()] == [
        "run.started",
        "step.judged",
        "run.finished",
    ]


@pytest.mark.usefixtures("signed_in")
def test_it_says_whether_an_agent_waits(
    rail: Checkrail, desk: Desk, capsys: Captured
) -> None:
    run = rail.run("Asks")
    review = run.open_review("question", "Which branch?")
    opened = timezone.now() - timedelta(minutes=9)
    Review.objects.filter(code=review.id).update(opened_at=opened)
    assert main(["show", review.id]) == 0
    assert "No agent has waited for this yet." in capsys.readouterr().out
    seen = timezone.now() - timedelta(minutes=4)
    row = AgentWait.objects.create(
        review=Review.objects.get(code=review.id), seen_at=seen
    )
    assert main(["queue"]) == 0
    assert "4 min ago" in capsys.readouterr().out
    assert main(["show", review.id]) == 0
    assert (
        "No agent is waiting; the last was seen 4 min ago." in capsys.readouterr().out
    )
    row.seen_at = timezone.now()
    row.save()
    assert main(["show", review.id]) == 0
    assert "An agent is waiting." in capsys.readouterr().out
    assert main(["answer", review.id, "main", "--yes"]) == 0
    assert "The agent has it now." in capsys.readouterr().out

    again = run.open_review("question", "And which tag?")
    Review.objects.filter(code=again.id).update(opened_at=opened)
    assert main(["answer", again.id, "v1", "--yes"]) == 0
    assert "No agent is waiting" in capsys.readouterr().out
    run.close()


@pytest.mark.usefixtures("signed_in")
def test_observed_runs_are_marked(rail: Checkrail, capsys: Captured) -> None:
    run = rail.run("Governed")
    Run.objects.filter(code=run.id).update(labels={"source": "opentelemetry"})
    assert main(["runs"]) == 0
    assert "running, observed" in capsys.readouterr().out
    run.close()


def test_the_doctor_says_what_to_mend(
    monkeypatch: pytest.MonkeyPatch, live: Live, robo: Robot, capsys: Captured
) -> None:
    assert main(["doctor"]) == 1
    assert "export CHECKRAIL_URL" in capsys.readouterr().out
    monkeypatch.setenv("CHECKRAIL_URL", "http://127.0.0.1:9")
    assert main(["doctor"]) == 1
    assert "does not answer" in capsys.readouterr().out
    monkeypatch.setenv("CHECKRAIL_URL", live.url)
    monkeypatch.setenv("CHECKRAIL_KEY", "crk_wrong")
    assert main(["doctor"]) == 1
    assert "does not know the agent key" in capsys.readouterr().out
    monkeypatch.setenv("CHECKRAIL_KEY", robo.key)
    assert main(["doctor", "--json"]) in {0, 1}
    found = json.loads(capsys.readouterr().out)
    assert {"state": "ok", "what": "The agent key is accepted", "mend": ""} in found


def test_unreachable_and_wrong_use_have_their_own_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("CHECKRAIL_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CHECKRAIL_TOKEN", "crt_x")
    monkeypatch.setattr(
        "checkrail.transport.connection.Connection.get_patience", lambda *_, **__: 0.1
    )
    assert main(["queue"]) == 3
    with pytest.raises(SystemExit) as refused:
        main(["skip", "abc"])  # a reason is needed
    assert refused.value.code == 2
    assert "--note" in capsys.readouterr().err


def test_it_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "checkrail", "--help"],
        cwd=Path(__file__).parents[3] / "client",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "what waits for a person" in done.stdout


def test_no_character_is_hidden() -> None:
    assert make_visible("a\x1b[2Jb\u202ec\u3164\u00a0d⟨\n") == (
        "a⟨U+001B⟩[2Jb⟨U+202E⟩c⟨U+3164⟩⟨U+00A0⟩d⟨U+27E8⟩\n"
    )
    assert make_visible("Zoë, 東京 – ok") == "Zoë, 東京 – ok"
    assert make_one_line("a\n  b" + "c" * 200, limit=10) == "a bcccccc…"


def test_a_sign_in_that_was_cut_off_is_no_hindrance(
    monkeypatch: pytest.MonkeyPatch, live: Live, bob: Person
) -> None:
    get_login_path().with_suffix(".new").write_text("{")
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{bob.token}\n"))

    assert main(["login", "--url", live.url, "--token-stdin"]) == 0

    assert main(["queue"]) == 0
    assert [path.name for path in get_login_path().parent.glob("login*")] == [
        "login.json"
    ]
