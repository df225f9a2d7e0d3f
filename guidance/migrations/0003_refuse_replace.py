"""guidance_policyversion is protected against REPLACE, and against replicas, too."""

from __future__ import annotations

from django.db import migrations

from common.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("guidance", "0002_append_only")]

    operations = [append_only("guidance_policyversion", again=True)]
