"""Which calls are below the paths of a step, by their texts alone."""

from __future__ import annotations

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
        "rm -rf b*",
        "rm -rf build src",
        "rm -rf 'build'",
        "rm -rf build\\/..",
        "rm -rf $X/build",
        "rm -rf build;ls",
        "rm -rf build\nls",
        "rm -rf build >x",
        "tar -C/etc build",
        "tar --directory=/etc build",
        "X=1 rm build",
        "",
    ],
)
def test_a_command_not_certainly_below(command: str) -> None:
    call = CommandCall(tool="Bash", command=command)
    assert not are_paths_below(call, ["build/", "src/gen"])


def test_arguments_and_edits() -> None:
    below = ToolCall(tool="t", arguments={"path": "build/a", "text": "what it says"})
    assert are_paths_below(below, ["build"])
    for arguments in (
        {"path": "src"},
        {"to": ["build/a", "/etc/passwd"]},
        {"deep": {"file_name": "x"}},
        {"command": "rm build/../x"},
        {"other": ".."},
        {"other": "a\\..\\b"},
    ):
        assert not are_paths_below(ToolCall(tool="t", arguments=arguments), ["build"])
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
