"""ledger_entry is protected against REPLACE, and against replicas, too."""

from __future__ import annotations

from django.db import migrations

from common.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_heap_only_updates")]

    operations = [append_only("ledger_entry", again=True)]
