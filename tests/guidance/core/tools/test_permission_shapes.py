"""What a standing permission covers: no more than a person has seen."""

from __future__ import annotations

import time
from typing import Any

from guidance.core.shell_commands.limits import MAX_FINDINGS
from guidance.core.tools.calls import Call
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.permission_shapes import (
    MAY_CHANGE,
    build_exact_text,
    build_permission_key,
    build_shape_text,
    is_permittable,
)
from tests.guidance.core.tools.builders import command, edit, judged, several, use
from tests.support.rows import each_row

UUID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
OTHER_UUID = "0190f3c1-0000-7abc-991f-00aaaacca427"


def shape(text: str) -> str | None:
    return build_shape_text(command(text))


@each_row(
    ("one", "other"),
    [
        ("rm -rf build-123", "rm -rf build-124"),
        ("rm -rf build-9", "rm -rf build-10"),
        ("rm -rf /srv/releases/20240101", "rm -rf /srv/releases/20250131"),
        ("rm -rf out-3f2a9c1", "rm -rf out-99bc0d7"),
        (f"rm -rf /srv/{UUID}", f"rm -rf /srv/{OTHER_UUID}"),
        (f"rm -rf {UUID}", f"rm -rf {OTHER_UUID}"),
        ("rm -rf 'build-1'", "rm -rf 'build-2'"),
        ("bash -c 'rm -rf build-1'", "bash -c 'rm -rf build-2'"),
        ("rm -rf release.2024", "rm -rf release.2025"),
        ("rm -rf tmp_1/x", "rm -rf tmp_2/x"),
        ("kubectl delete pod web-7f9c4d8b", "kubectl delete pod web-0a1b2c3d"),
        ("git branch -D fix/issue-12", "git branch -D fix/issue-99"),
        ("rm -rf 'build 1'", "rm -rf 'build 1'"),
    ],
)
def test_numbers_hashes_and_ids_inside_of_words_may_differ(
    one: str, other: str
) -> None:
    assert shape(one) == shape(other)


@each_row(
    ("one", "other"),
    [
        ("rm -rf build-1", "rm -rf src-1"),
        ("rm -rf build-1", "rm -rf build-1 /"),
        ("rm -rf build-1", "rm -rf build-1/.."),
        ("rm -rf /srv/a1", "rm -rf /srv/b2"),
        ("rm -rf /srv/db1", "rm -rf /srv/ad2"),
        ("rm -rf cafe12", "rm -rf beef34"),
        ("rm -rf deadbeef", "rm -rf beefdead"),
        ("rm -rf build-1", "rm -rf build-x"),
        ("rm -rf build-1", "rm -r build-1"),
        ("rm -rf build-1", "sudo rm -rf build-1"),
        ("rm -rf build-1", "rm -rf build-1; ls"),
        ("rm -rf build1 x", "rm -rf build1 'x'"),
        ("chmod -R 755 x", "chmod -R 777 x"),
        ("kill -9 1", "kill -9 2"),
        ("rm -rf 12345", "rm -rf 54321"),
        ("kill 123456 x", "kill # x"),
        ("rm -rf /data/1", "rm -rf /data/*"),
        ("rm -rf a\u0661", "rm -rf a\u0662"),
        ("chmod\t755 x", "chmod\t777 x"),
        ("ls\n1", "ls\n2"),
        ("rm -rf build1", "rm -rf build2"),
        ("rm -rf build-1x", "rm -rf build-2x"),
        ("rm -rf /srv/123456", "rm -rf /srv/654321"),
        ("rm -rf 20240101", "rm -rf 20250131"),
        ("kill -9 123456", "kill -9 000001"),
        ("rm -rf build; kill -9 123456", "rm -rf build; kill -9 000001"),
        ("ssh root@10.0.0.1 rm -rf /srv/data", "ssh root@10.0.0.2 rm -rf /srv/data"),
        ("ssh root@web-1 rm -rf /srv", "ssh root@web-2 rm -rf /srv"),
        ("ssh x.10.0.0.1 rm -rf /srv", "ssh x.11.0.0.1 rm -rf /srv"),
        ("curl -X DELETE http://10.0.0.1:80/x", "curl -X DELETE http://10.0.0.2:80/x"),
        ("curl -X DELETE http://10.0.0.1:80/x", "curl -X DELETE http://10.0.0.1:81/x"),
        ("curl -X DELETE http://web-1/x", "curl -X DELETE http://web-2/x"),
        ("redis-cli -n1 flushdb", "redis-cli -n0 flushdb"),
        ("redis-cli --db-1 flushdb", "redis-cli --db-0 flushdb"),
        ("redis-cli '-db-1' flushdb", "redis-cli '-db-0' flushdb"),
        ("install -m755 a b; rm -rf build", "install -m777 a b; rm -rf build"),
        ("rm -rf build && chmod --mode=755 x", "rm -rf build && chmod --mode=777 x"),
        ("dd of=disk-1", "dd of=disk-2"),
        ("docker rmi app:v.1", "docker rmi app:v.2"),
        ('rm --x="a-1"', 'rm --x="a-2"'),
        ("rm -rf x\u00a0build-1", "rm -rf x\u00a0build-2"),
    ],
)
def test_everything_else_counts_as_it_stands(one: str, other: str) -> None:
    assert shape(one) != shape(other)


@each_row(
    "text",
    [
        r"rm -rf /$'\x61\x62\x63' build-1",
        r"rm -rf \build-1",
        """python3 -c "import shutil; shutil.rmtree(chr(97)+chr(98))" build-1""",
        "awk 'CHR (97)' build-1",
        "set -- x1 y /; rm -rf x$1 build-1",
        "a1=build; rm -rf $a1 build-1",
        "rm -rf `ls` build-1",
        "curl -X DELETE x/%61 build-1",
        "rm -rf build-{1..9} build-1",
    ],
)
def test_where_letters_can_be_written_as_numbers_there_is_no_shape(text: str) -> None:
    assert shape(text) is None
    assert build_shape_text(use(note="build-1", deep=[{"x": text}])) is None


def test_a_tool_a_kind_and_every_argument_count() -> None:
    texts = {
        build_shape_text(use("Bash", command="rm -rf build-1")),
        build_shape_text(use("Shell", command="rm -rf build-1")),
        build_shape_text(use("Bash", script="rm -rf build-1")),
        build_shape_text(use("Bash", command="rm -rf build-1", cwd="/srv")),
        build_shape_text(use("Bash", command="rm -rf build-1", depth=1)),
        build_shape_text(use("Bash", command="rm -rf build-1", depth=2)),
        shape("rm -rf build-1"),
        build_shape_text(command("rm -rf build-1", arguments={"cwd": "/srv"})),
    }
    assert len(texts) == 8


def test_the_exact_call_is_the_same_in_every_run_and_differs_by_every_field() -> None:
    calls: list[Call] = [
        command("ls"),
        command("ls "),
        command("ls", tool="Shell"),
        command("ls", arguments={}),
        use("Bash", command="ls"),
        edit("x"),
        edit("x", diff_lines=1),
        several("a", ("a", "b")),
    ]
    assert len({build_exact_text(call) for call in calls}) == len(calls)
    assert build_exact_text(use(a=1, b=2)) == build_exact_text(use(b=2, a=1))
    assert build_permission_key(build_exact_text(command("ls"))).startswith("sha256:")


def test_a_call_with_the_sign_of_a_changing_part_has_no_shape() -> None:
    assert shape(f"rm -rf build-{MAY_CHANGE}") is None


def test_edits_have_no_shape() -> None:
    assert build_shape_text(edit()) is None
    assert build_shape_text(several("a", ("a", "b"))) is None


def test_a_shape_is_found_in_linear_time() -> None:
    started = time.thread_time()  # the processor's: a busy machine changes nothing
    for text in (
        "a" * 200_000 + "z",
        "1a" * 100_000 + "z",
        "a-" * 100_000,
        "'" * 200_000,
        "{" * 200_000,
        "/1234567" * 25_000,
        "a." * 100_000 + "x",
        "1." * 100_000,
    ):
        shape(text)
    assert time.thread_time() - started < 5


def found(decision: str = "require-confirmation", **details: Any) -> CallFinding:
    return CallFinding(
        gate="destructive", decision=decision, message="m", details=details
    )


@each_row(
    ("findings", "allowed"),
    [
        ([], False),
        ([found("warn", rule="a")], False),
        ([found(rule="delete-folder")], True),
        ([found(rule="delete-folder"), found("warn")], True),
        ([found(rule="delete-folder"), found(rule="git-clean")], True),
        ([found(rule="disk-format")], False),
        ([found(rule="delete-folder"), found(rule="disk-format")], False),
        ([found(rule="delete-folder", uninspectable=True)], False),
        ([found()], False),
        ([found("block", rule="delete-folder")], False),
        ([found(rule="delete-folder"), found("block")], False),
        ([found(rule="delete-folder")] * (MAX_FINDINGS - 1), True),
        ([found(rule="delete-folder")] * MAX_FINDINGS, False),
    ],
)
def test_what_may_be_permitted_in_advance(
    findings: list[CallFinding], allowed: bool
) -> None:
    assert is_permittable(findings, always_ask=["disk-*"]) is allowed


def test_a_gate_that_could_not_judge_cannot_be_permitted_away() -> None:
    verdict = judged(command("rm -rf build"))
    assert is_permittable(verdict.findings, always_ask=[])
    held = CallFinding(gate="schema", decision="require-confirmation", message="broke")
    assert not is_permittable([*verdict.findings, held], always_ask=[])
