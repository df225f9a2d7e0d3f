"""Agents could name any policy: where a project has more than its default, they still can."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

DEFAULT = "default"


def let_agents_choose(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    others = apps.get_model("guidance", "Policy").objects.exclude(name=DEFAULT)
    projects = apps.get_model("accounts", "Project").objects
    chosen = others.values_list("project_id", flat=True)
    projects.filter(pk__in=list(chosen)).update(agents_choose_policy=True)


class Migration(migrations.Migration):
    dependencies = [("guidance", "0005_assignments")]

    operations = [migrations.RunPython(let_agents_choose, migrations.RunPython.noop)]
