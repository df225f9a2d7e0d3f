"""Words of runs are indexed anew: parts of ids are not among them any more (docs/adr/0032)."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def empty_index(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """The task begins at the first entry; until then new runs alone are found by words."""
    for name in ("RunWords", "WordsIndexed"):
        apps.get_model("ledger", name).objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("ledger", "0010_project_verification")]

    operations = [migrations.RunPython(empty_index, empty_index)]
