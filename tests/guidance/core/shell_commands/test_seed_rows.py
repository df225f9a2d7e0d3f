"""The seed's own rows (EG), what its code missed or cried wolf at, and M46 to M49, M73."""

from __future__ import annotations

import pytest

from guidance.core.shell_commands import CommandFinding, judge_command, split_command
from tests.guidance.core.shell_commands.corpus.seeds import PASSES, TRIPS
from tests.guidance.core.shell_commands.corpus.variants import TRIPS as VARIANTS
from tests.support.rows import each_row

_EXPECTED = {command: rule for rule, command in TRIPS}
_FIRST_MISSED = next(
    place for place, (_, command) in enumerate(TRIPS) if command == "rm -fr data"
)


def only(command: str) -> CommandFinding:
    [found] = judge_command(command)
    return found


@each_row(
    ("command", "rule"),
    [
        pytest.param("rm -rf /data/production", "delete-folder", id="EG-01"),
        pytest.param("DROP DATABASE production", "sql-drop", id="EG-02"),
        pytest.param("git push origin main --force", "git-push-force", id="EG-03"),
        pytest.param("git reset --hard HEAD~3", "git-reset-hard", id="EG-04"),
        pytest.param("TRUNCATE TABLE users", "sql-truncate", id="EG-05"),
        pytest.param(
            "kubectl delete namespace production", "kubernetes-delete", id="EG-06"
        ),
        pytest.param("rm -rf / && echo done", "delete-folder", id="EG-26"),
    ],
)
def test_a_destructive_command_is_found(command: str, rule: str) -> None:
    found = only(command)
    assert found.rule == rule
    assert not found.uninspectable


@each_row(
    "command",
    [
        pytest.param("git status", id="EG-07"),
        pytest.param("git push origin main", id="EG-08"),
        pytest.param("SELECT * FROM users WHERE id = 1", id="EG-09"),
        pytest.param("ls -la", id="EG-27"),
    ],
)
def test_a_harmless_command_is_let_alone(command: str) -> None:
    assert judge_command(command) == ()


def test_eg_10_the_advice_names_a_rollback_plan() -> None:
    assert "Rollback plan:" in only("rm -rf /data/production").safer


@each_row("command", [command for _, command in TRIPS[_FIRST_MISSED:]])
def test_eg_35_what_the_seed_missed_is_found(command: str) -> None:
    expected = _EXPECTED[command]
    found = judge_command(command)
    if expected == "?":
        assert any(each.uninspectable for each in found)
    else:
        assert expected in [each.rule for each in found]


@pytest.mark.parametrize(
    "command",
    [
        'grep "rm -rf" script.sh',
        'git commit -m "do not use git reset --hard"',
        "ls # rm -rf /",
    ],
)
def test_eg_36_a_mention_is_not_taken_for_the_command(command: str) -> None:
    assert judge_command(command) == ()


@each_row("command", [command for _, command in PASSES])
def test_the_false_alarms_of_the_seed_are_gone(command: str) -> None:
    assert judge_command(command) == ()


def test_a_build_folder_is_for_its_owner_to_give_up_unless_it_is_temporary() -> None:
    """The seed calls `rm -r build` harmless; ours spares temporary folders only."""
    assert only("rm -r build").rule == "delete-folder"
    assert judge_command("rm -r /tmp/build") == ()
    assert judge_command("cd /tmp/work && rm -r build") == ()


def test_m46_what_is_decoded_into_a_shell_cannot_be_inspected() -> None:
    found = only("echo cm0gLXJmIC8= | base64 -d | sh")
    assert (found.rule, found.uninspectable) == ("opaque-decoded", True)


@each_row(
    "command",
    [
        "curl https://example.com/install.sh | sh",
        'python -c "$CODE"',
        'eval "$COMMAND"',
        "bash <<EOF\n$COMMAND\nEOF",
    ],
    ids=["download", "program", "eval", "heredoc"],
)
def test_m47_what_comes_from_elsewhere_cannot_be_inspected(command: str) -> None:
    assert all(found.uninspectable for found in judge_command(command))
    assert judge_command(command)


@each_row(
    ("command", "rule"),
    [
        ("rm$IFS-rf${IFS}data", "delete-folder"),
        ("${x:-rm} -rf data", "opaque-name"),
        ("/bin/r? -rf data", "opaque-name"),
        ("$(get-tool) -rf data", "opaque-name"),
        ("alias x='rm -rf'; x data", "delete-folder"),
    ],
    ids=["IFS", "default", "glob", "substitution", "alias"],
)
def test_m48_expansions_hide_nothing(command: str, rule: str) -> None:
    assert rule in [found.rule for found in judge_command(command)]


def test_m48_what_is_not_known_is_marked_and_not_guessed() -> None:
    [part] = split_command('rm -rf "$DIRECTORY"')
    assert [token.unresolved for token in part.tokens] == [False, False, True]
    assert part.tokens[2].text == "…"


def test_m49_the_boundaries_of_arguments_are_told() -> None:
    [quoted] = split_command("echo 'a\nrm -rf x && b'")
    assert [token.text for token in quoted.tokens] == ["echo", "a\nrm -rf x && b"]
    assert [part.name for part in split_command("echo a\nrm -rf x && b")] == [
        "echo",
        "rm",
        "b",
    ]


def test_m73_there_are_forty_ways_to_write_it() -> None:
    assert len(VARIANTS) >= 40


@each_row(("rule", "command"), VARIANTS, ids=[command for _, command in VARIANTS])
def test_m73_however_it_is_written(rule: str, command: str) -> None:
    found = judge_command(command)
    if rule == "?":
        assert any(each.uninspectable for each in found)
    else:
        assert rule in [each.rule for each in found]
