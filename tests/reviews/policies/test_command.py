"""manage.py policies: a folder of policies as a check of pull requests, and applied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.models import Project
from guidance.core.policy import load_policy
from guidance.core.policy.differences import list_differences
from guidance.models import PolicyActivation, PolicyVersion
from guidance.services import get_policy_in_force
from guidance.yaml_documents import write_yaml
from reviews.policies.selectors import find_document_in_force
from reviews.policies.services import create_version

pytestmark = pytest.mark.once("words of a command; its SQL is repeated in test_writing")


def run(act: str, *args: Any, project: Project) -> int | str | None:
    """The exit code."""
    try:
        call_command("policies", act, *map(str, args), project=project.slug)
    except SystemExit as ended:
        return ended.code
    return 0


def test_a_difference_is_told_in_words_and_by_the_exit_code(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.yaml").write_text("checks:\n  max_resets: 1\n")
    assert run("diff", tmp_path, project=project) == 1
    told = capsys.readouterr().out
    assert told.startswith("own: ")
    assert not PolicyVersion.objects.filter(project=project, name="own").exists()

    assert run("apply", tmp_path, "--note", "From git", project=project) == 0
    assert "own: version 1 in force" in capsys.readouterr().out
    (act,) = PolicyActivation.objects.filter(
        policy__project=project, policy__name="own"
    )
    assert (act.note, act.by) == ("From git", None)
    assert run("diff", tmp_path, project=project) == 0
    assert "Nothing differs" in capsys.readouterr().out
    assert run("apply", tmp_path, project=project) == 0
    assert PolicyVersion.objects.filter(project=project, name="own").count() == 1


def test_only_what_differs_is_told(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not each default that the first version has written out and the file leaves out."""
    get_policy_in_force(project_id=project.pk, name="default")
    whole = find_document_in_force(project, "default")
    assert len(list_differences(whole, {})) > 100
    assert load_policy(whole) == load_policy({"gates": whole["gates"]})
    gates = write_yaml({"gates": whole["gates"]})
    (tmp_path / "default.yaml").write_text(gates)
    assert run("diff", tmp_path, project=project) == 0
    assert "Nothing differs" in capsys.readouterr().out
    (tmp_path / "default.yaml").write_text(f"{gates}checks:\n  max_resets: 7\n")
    assert run("diff", tmp_path, project=project) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert "→ 7" in line


def test_a_draft_that_says_the_same_is_activated(
    project: Project, tmp_path: Path
) -> None:
    for number in (1, 2):
        document = {"checks": {"max_resets": number}}
        create_version(
            project_id=project.pk, name="own", document=document, activate=number == 1
        )
    (tmp_path / "own.yaml").write_text("checks:\n  max_resets: 2\n")
    assert run("apply", tmp_path, project=project) == 0
    assert get_policy_in_force(project_id=project.pk, name="own").version == 2


def test_every_fault_of_every_file_has_its_line_and_nothing_is_applied(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text("checks:\n  max_resets: -1\n  x: 1\n")
    (tmp_path / "b.yaml").write_text("a: [1\n")
    (tmp_path / "c.yaml").write_text("checks:\n  max_resets: 1\n")
    (tmp_path / "No Name.yml").write_text("{}\n")
    for act in ("diff", "apply"):
        assert run(act, tmp_path, project=project) == 2
        told = capsys.readouterr().err
        assert f"{tmp_path}/a.yaml:2:3: checks.max_resets: " in told
        assert f"{tmp_path}/a.yaml:3:3: checks.x: " in told
        assert f"{tmp_path}/b.yaml:" in told
        assert "No Name.yml: no policy can have this name" in told
        assert "c.yaml" not in told
    assert not PolicyVersion.objects.filter(project=project, name="c").exists()


def test_a_folder_that_is_none_is_an_error(project: Project, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "absent"):
        with pytest.raises(CommandError) as refused:
            run("diff", folder, project=project)
        assert refused.value.returncode == 2
    with pytest.raises(CommandError, match="no such project"):
        call_command("policies", "diff", str(tmp_path), project="absent")


def test_agents_are_let_choose_or_not(project: Project) -> None:
    assert run("choose", "yes", project=project) == 0
    project.refresh_from_db()
    assert project.agents_choose_policy
    assert run("choose", "no", project=project) == 0
    project.refresh_from_db()
    assert not project.agents_choose_policy
