"""Views of any list, not of the runs alone."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("console", "0001_run_views")]

    operations = [
        migrations.RemoveConstraint(model_name="runview", name="run_view_once"),
        migrations.RenameModel(old_name="RunView", new_name="SavedView"),
        migrations.AddField(
            model_name="savedview",
            name="page",
            field=models.CharField(
                choices=[("runs", "Runs"), ("queue", "Queue")],
                db_default="runs",
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.UniqueConstraint(
                fields=("project", "owner", "page", "name"), name="saved_view_once"
            ),
        ),
    ]
