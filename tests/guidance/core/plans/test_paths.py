"""Which calls are below the paths of a step, by their texts alone."""

from __future__ import annotations

from typing import Any

import pytest

from guidance.core.plans.paths import (
    are_paths_below,
    find_path_problem,
    normalise_path,
)
from guidance.core.tools.calls import CommandCall, EditCall, ToolCall


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build",
        "rm -rf build/",
        "rm -rf ./build/out",
        "rm -rf build/x/../y",
        "rm -rf build/*.o",
        "rm -rf build/a src/gen/b",
        "git rm -r build/old",
        "chmod 755 build/x",
        "make --directory=build/sub",
    ],
)
def test_a_command_below(command: str) -> None:
    call = CommandCall(tool="Bash", command=command)
    assert are_paths_below(call, ["build/", "src/gen"])


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf src",
        "rm -rf builds",
        "rm -rf build/..",
        "rm -rf build/../src",
        "rm -rf build/../../build",
        "rm -rf /build",
        "rm -rf //build/x",
        "rm -rf ~/build",
        "rm -rf ~root/build",
        "rm -rf build/.*",
        "rm -rf build/*/../../src",
        "rm -rf build/*/../x",
        "rm -rf build/?/../x",
        "rm -rf build/[ab]/../x",
        "rm -rf build/.?",
        "rm -rf build/.[.]",
        "rm -rf b*",
        "rm -rf build src",
        "rm src",
        "rm -rf 'build'",
        "git rm src",
        "git src/x",
        "rm -rf build\\/..",
        "rm -rf $X/build",
        "rm -rf build;ls",
        "rm -rf build\nls",
        "rm -rf build >x",
        "tar -C/etc build",
        "tar -C.. build",
        "tar -C~ build",
        "tar --directory=/etc build",
        "X=1 rm build",
        "PATH=/x build/y",
        "",
    ],
)
def test_a_command_not_certainly_below(command: str) -> None:
    call = CommandCall(tool="Bash", command=command)
    assert not are_paths_below(call, ["build/", "src/gen"])


@pytest.mark.parametrize(
    "sign", [*";&|<>$`(){}!#\\'\"", "\0", "\b", "\n", "\x1f", "\x7f"]
)
def test_a_sign_that_a_shell_reads_makes_a_path_unclear(sign: str) -> None:
    """But for the sign these would be below: it is in a name, not in place of the folder."""
    call = CommandCall(tool="Bash", command=f"rm -rf build/x{sign}build/y")
    assert not are_paths_below(call, ["build"])
    assert find_path_problem(f"build/x{sign}y")


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "build/a", "text": "what it says"},
        {"text": "either / or", "count": 3, "sure": True},
        {"command": "rm build/a", "cwd": "build"},
    ],
)
def test_arguments_below(arguments: dict[str, Any]) -> None:
    assert are_paths_below(ToolCall(tool="t", arguments=arguments), ["build"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "src"},
        {"to": ["build/a", "/etc/passwd"]},
        {"deep": {"file_name": "x"}},
        {"dir": "x"},
        {"target_folder": "x"},
        {"CWD": "x"},
        {"command": "rm src"},
        {"cmd": "rm src"},
        {"Script": "rm src"},
        {"command": "rm build/../x"},
        {"other": ".."},
        {"other": "src/x"},
        {"other": "/etc/my notes"},
        {"other": "~/my notes"},
        {"other": "./my notes"},
        {"other": "../my notes"},
        {"other": "my notes/../x"},
        {"other": "a\\..\\b"},
    ],
)
def test_arguments_not_certainly_below(arguments: dict[str, Any]) -> None:
    assert not are_paths_below(ToolCall(tool="t", arguments=arguments), ["build"])


def test_unread_arguments_and_edits() -> None:
    assert not are_paths_below(ToolCall(tool="t", arguments_json="{"), ["build"])
    edit = EditCall(tool="Edit", file_path="build/../x", content="")
    assert not are_paths_below(edit, ["build"])
    command = CommandCall(tool="Bash", command="ls build", arguments={"cwd": "/etc"})
    assert not are_paths_below(command, ["build"])


@pytest.mark.parametrize("path", ["", "..", "a/../..", "/", "~", "a*", "a'b", "$HOME"])
def test_a_step_is_not_bound_to(path: str) -> None:
    assert find_path_problem(path)


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("build/", "build"),
        ("./a//b/.", "a/b"),
        (".", "."),
        ("/srv/x/", "/srv/x"),
        ("~/x", "~/x"),
    ],
)
def test_a_path_is_shown_plainly(path: str, shown: str) -> None:
    assert find_path_problem(path) is None
    assert normalise_path(path) == shown
