from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = (("config", "0001_initial"),)
    operations = (
        migrations.RunSQL(
            "ALTER TABLE config_heartbeat ADD COLUMN tried integer",
            "ALTER TABLE config_heartbeat DROP COLUMN tried",
        ),
    )
