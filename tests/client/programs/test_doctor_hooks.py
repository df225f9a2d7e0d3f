"""The doctor looks at the hooks of coding agents: whole, trusted, and by which way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from checkrail.cli.doctor_hooks import examine_hooks
from checkrail.hooks import install

from tests.gateway.coding_agents.test_installing import URL, folder, settings

__all__ = ["folder"]

KEY = "crk_not-a-real-one"


@pytest.fixture(autouse=True)
def trusted(folder: Path) -> None:
    projects = {str(folder): {"hasTrustDialogAccepted": True}}
    Path.home().mkdir(exist_ok=True)
    (Path.home() / ".claude.json").write_text(json.dumps({"projects": projects}))


def find_problems(folder: Path, state: str = "wrong") -> str:
    return "\n".join(
        f"{each.what} {each.mend}"
        for each in examine_hooks(folder)
        if each.state == state
    )


def test_nothing_is_installed(folder: Path) -> None:
    assert "No hooks" in find_problems(folder, "note")
    assert find_problems(folder) == ""


def test_whole_hooks_are_well_and_name_their_server(folder: Path) -> None:
    install("claude-code", url=URL, key=KEY, folder=folder)
    assert find_problems(folder) == ""
    assert f"Claude Code asks {URL} by the command hook" in find_problems(folder, "ok")


def test_what_keeps_claude_codes_hooks_from_running(folder: Path) -> None:
    done = install("claude-code", url=URL, key=KEY, folder=folder)
    document = settings(done.path)
    del document["hooks"]["PreToolUse"]
    done.path.write_text(json.dumps({**document, "disableAllHooks": True}))
    (Path.home() / ".config" / "checkrail" / "hook.key").unlink()
    (Path.home() / ".claude.json").write_text("{}")
    wrong = find_problems(folder)
    assert "no hook for PreToolUse" in wrong
    assert "switches all hooks off" in wrong
    assert "no agent key" in wrong
    assert "does not trust" in find_problems(folder, "note")
    done.path.write_text(done.path.read_text().replace("python", "gone"))
    assert "is not there" in find_problems(folder)


def test_ways_that_let_an_agent_go_on_are_named(folder: Path) -> None:
    install("claude-code", url=URL, key=KEY, by_http=True, folder=folder)
    assert f"asks {URL} by HTTP" in find_problems(folder, "ok")
    assert "go on when the server cannot be reached" in find_problems(folder, "note")
    assert find_problems(folder) == ""
    install("claude-code", url=URL, key=KEY, open=True, folder=folder)
    assert "--open" in find_problems(folder, "note")


@pytest.mark.parametrize("host", ["claude-code", "codex"])
@pytest.mark.parametrize(
    ("group", "handler", "said"),
    [
        ({"matcher": "Bash"}, {}, '(matcher "Bash")'),
        ({"matcher": "Bash|Edit"}, {}, '(matcher "Bash|Edit")'),
        ({}, {"if": "Bash(git *)"}, '(if "Bash(git *)")'),
        ({}, {"async": True}, "(async)"),
        ({}, {"asyncRewake": True}, "(asyncRewake)"),
        ({"matcher": "*"}, {"async": False}, ""),
        ({"matcher": ""}, {"if": ""}, ""),
    ],
)
def test_hooks_that_leave_calls_out_are_named(
    folder: Path,
    host: str,
    group: dict[str, str],
    handler: dict[str, object],
    said: str,
) -> None:
    done = install(host, url=URL, key=KEY, folder=folder)
    document = settings(done.path)
    (ours,) = document["hooks"]["PreToolUse"]
    ours.update(group)
    ours["hooks"][0].update(handler)
    done.path.write_text(json.dumps(document))
    wrong = [each for each in find_problems(folder).splitlines() if "leaves" in each]
    assert len(wrong) == (1 if said else 0)
    assert all("at PreToolUse" in each and said in each for each in wrong)

    install(host, url=URL, key=KEY, folder=folder)
    assert "leaves" not in find_problems(folder)


def test_a_hook_beside_one_that_leaves_calls_out_sees_them(folder: Path) -> None:
    done = install("claude-code", url=URL, key=KEY, folder=folder)
    document = settings(done.path)
    groups = document["hooks"]["PreToolUse"]
    groups.append({**groups[0], "matcher": "Bash"})
    done.path.write_text(json.dumps(document))
    assert find_problems(folder) == ""


def test_a_key_in_the_project_is_named(folder: Path) -> None:
    local = folder / ".claude" / "settings.local.json"
    local.write_text(json.dumps({"env": {"CHECKRAIL_KEY": KEY}}))
    assert "could be committed" in find_problems(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b'{"env": null}', "`env` in"),
        (b'{"env": ["CHECKRAIL_KEY"]}', "`env` in"),
        (b"{broken", "no valid JSON"),
        (b"\xff\xfe", "no valid JSON"),
        (b"[]", "holds no JSON object"),
        (b'{"hooks": {"Stop": [{"hooks": null}, null]}}', ""),
    ],
)
@pytest.mark.parametrize("by_http", [False, True], ids=["command", "http"])
def test_broken_settings_are_named_and_the_rest_is_examined(
    folder: Path, text: bytes, said: str, by_http: bool
) -> None:
    install("claude-code", url=URL, key=KEY, by_http=by_http, folder=folder)
    broken = folder / ".claude" / "settings.json"
    broken.write_bytes(text)
    wrong = find_problems(folder)
    assert said in wrong
    assert (str(broken) in wrong) == bool(said)
    assert f"asks {URL}" in find_problems(folder, "ok")
    assert "no agent key" not in wrong
    broken.rename(Path.home() / ".claude.json")
    assert find_problems(folder, "wrong") or find_problems(folder, "note")


def test_a_command_that_no_shell_reads_is_named(folder: Path) -> None:
    done = install("claude-code", url=URL, key=KEY, folder=folder)
    document = settings(done.path)
    handler = document["hooks"]["Stop"][0]["hooks"][0]
    handler["command"] = "'" + handler["command"]
    done.path.write_text(json.dumps(document))
    assert "can run nothing" in find_problems(folder)


def test_hooks_that_codex_does_not_trust_are_named(folder: Path) -> None:
    done = install("codex", url=URL, key=KEY)
    wrong = find_problems(folder)
    assert "Codex does not trust its hooks for PermissionRequest" in wrong
    assert "PreToolUse" in wrong
    assert "--dangerously-bypass-hook-trust" in wrong
    names = [
        *("pre_tool_use", "permission_request", "post_tool_use", "session_start"),
        *("session_end", "user_prompt_submit", "stop", "subagent_stop"),
    ]
    states = [
        f'[hooks.state."{done.path}:{name}:0:0"]\ntrusted_hash = "sha256:0"\n'
        for name in names
    ]
    config = Path.home() / ".codex" / "config.toml"
    config.write_text('model = "m"\n' + "\n".join(states))
    assert find_problems(folder) == ""
    config.write_text("[features]\nhooks = false\n" + "\n".join(states))
    assert "switched off" in find_problems(folder)
