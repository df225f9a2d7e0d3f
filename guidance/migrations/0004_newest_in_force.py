"""The newest version of each policy was the one in force: an activation now says so."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

NOTE = "It was the newest version when activating one became an act of its own."


def activate_newest(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    version_model = apps.get_model("guidance", "PolicyVersion")
    policy_model = apps.get_model("guidance", "Policy")
    activation_model = apps.get_model("guidance", "PolicyActivation")
    newest = {
        (project, name): pk
        for project, name, pk in version_model.objects.order_by("version").values_list(
            "project_id", "name", "pk"
        )
    }
    for known in policy_model.objects.values_list("project_id", "name"):
        newest.pop(known, None)
    at = timezone.now()
    for (project, name), pk in newest.items():
        policy = policy_model.objects.create(
            project_id=project, name=name, active_id=pk
        )
        activation_model.objects.create(
            policy=policy, version_id=pk, note=NOTE, at=at, by=None
        )


class Migration(migrations.Migration):
    dependencies = [("guidance", "0003_activation")]

    operations = [migrations.RunPython(activate_newest, migrations.RunPython.noop)]
