"""Policies from before activations: the newest version of each stays in force."""

from __future__ import annotations

from importlib import import_module

from django.apps import apps
from django.db import connection, transaction

from accounts.models import Project
from common.append_only import list_faults
from guidance.models import Policy, PolicyActivation, PolicyVersion


def test_the_newest_version_of_each_name_is_active(project: Project) -> None:
    migration = import_module("guidance.migrations.0004_newest_in_force")
    with transaction.atomic():
        for name, version in (("a", 1), ("a", 2), ("b", 1)):
            PolicyVersion.objects.create(
                project=project,
                name=name,
                version=version,
                document="{}",
                hash="sha256:0",
            )
        migration.activate_newest(apps, connection.schema_editor())
        made = Policy.objects.filter(project=project)
        found = {(row.name, row.active.version) for row in made if row.active}
        acts = PolicyActivation.objects.filter(policy__project=project)
        notes = {(act.note, act.before, act.by) for act in acts}
        transaction.set_rollback(True)
    assert found == {("a", 2), ("b", 1)}
    assert notes == {(migration.NOTE, None, None)}


def test_the_tables_of_policies_are_append_only(database: None) -> None:
    assert [fault for fault in list_faults() if "guidance" in fault] == []
