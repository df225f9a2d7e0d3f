"""reviews_ruling is protected against REPLACE, and against replicas, too."""

from __future__ import annotations

from django.db import migrations

from common.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("reviews", "0008_loop_action")]

    operations = [append_only("reviews_ruling", again=True)]
