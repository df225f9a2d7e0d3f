"""Somebody changes policies past the server: the chain of the project's policies tells."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.utils import Error as DatabaseError

from accounts.models import Project
from guidance.models import Policy, PolicyActivation, PolicyVersion
from ledger.models import Run
from ledger.verification.row_checks import compare_runs
from tests.ledger.tampering.triggers import run_sql, without_triggers
from tests.support.builders import make_policy


@pytest.fixture
def chain(project: Project) -> Run:
    """Two versions of a policy, the second in force."""
    make_policy("own", project=project, checks={"max_resets": 1})
    make_policy("own", project=project, checks={"max_resets": 2})
    return Run.objects.get(project=project, intent="system-policies")


def list_reasons(chain: Run) -> list[str]:
    return [each.reason for each in compare_runs([chain])]


def test_what_nobody_touched_is_whole(chain: Run) -> None:
    assert list_reasons(chain) == []


def test_another_version_put_in_force_is_named(chain: Run, project: Project) -> None:
    first = PolicyVersion.objects.get(project=project, name="own", version=1)
    with transaction.atomic():
        Policy.objects.filter(project=project, name="own").update(active=first)
        found = list_reasons(chain)
        transaction.set_rollback(True)
    assert found == [
        "of the policy own version 1 is in force, the chain says 2",
    ]


def test_a_policy_that_is_gone_is_named(
    chain: Run, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    with transaction.atomic():
        Policy.objects.filter(project=project, name="own").update(active=None)
        with pytest.raises(SystemExit):
            call_command("ledger_verify", run=str(chain.code))
        transaction.set_rollback(True)
    assert "version None is in force" in capsys.readouterr().err


def test_versions_that_were_changed_added_or_removed_are_named(
    chain: Run, project: Project
) -> None:
    mine = PolicyVersion.objects.filter(project=project, name="own")
    first = mine.get(version=1)
    table = "guidance_policyversion"
    with without_triggers(table), transaction.atomic():
        run_sql(f"UPDATE {table} SET document = '{{}}' WHERE id = {first.pk}")
        changed = list_reasons(chain)
        run_sql(f"UPDATE {table} SET hash = 'sha256:0' WHERE id = {first.pk}")
        (named,) = list_reasons(chain)
        run_sql(f"UPDATE {table} SET version = 9 WHERE id = {first.pk}")
        moved = list_reasons(chain)
        transaction.set_rollback(True)
    assert changed == [
        "the policy version own@1 has a document that does not fit its hash"
    ]
    assert named.startswith("the policy version own@1 has the hash sha256:0, the chain")
    assert set(moved) == {
        "the policy version own@9 is stored, and no entry tells of it",
        "the policy version own@1 is missing",
    }


@pytest.mark.parametrize("statement", ["UPDATE {} SET note = ''", "DELETE FROM {}"])
@pytest.mark.parametrize("model", [PolicyVersion, PolicyActivation])
def test_versions_and_activations_are_append_only(
    chain: Run, model: type[PolicyVersion | PolicyActivation], statement: str
) -> None:
    table = model._meta.db_table
    with pytest.raises((DatabaseError, IntegrityError), match="append-only"):
        run_sql(statement.format(table))
    assert connection.vendor in {"sqlite", "postgresql"}
