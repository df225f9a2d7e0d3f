"""reviews_ruling can only grow: the database refuses anything else."""

from __future__ import annotations

from django.db import migrations

from common.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("reviews", "0001_initial")]

    operations = [append_only("reviews_ruling")]
