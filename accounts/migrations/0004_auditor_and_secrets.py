"""A role that reads everything and changes nothing; keys and tokens get a name and an end."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models

import common.ids

ROLES = [
    ("auditor", "Auditor"),
    ("reviewer", "Reviewer"),
    ("manager", "Manager"),
    ("admin", "Admin"),
]
SECRETS = ("agentkey", "personaltoken")
BATCH = 500


def give_codes(apps: Any, _editor: Any) -> None:
    """Every row one of its own, before they have to differ."""
    for name in SECRETS:
        rows = apps.get_model("accounts", name).objects
        while some := list(rows.filter(code=None)[:BATCH]):
            for row in some:
                row.code = common.ids.uuid7()
            rows.bulk_update(some, ["code"])


def list_secret_fields() -> list[Any]:
    fields = []
    for name in SECRETS:
        fields += [
            # Without a default, which would be the same for every row.
            migrations.AddField(
                name, "code", models.UUIDField(editable=False, null=True)
            ),
            migrations.AddField(
                name,
                "name",
                models.CharField(blank=True, default="", db_default="", max_length=60),
            ),
            migrations.AddField(
                name, "expires_at", models.DateTimeField(blank=True, null=True)
            ),
        ]
    return fields


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_agents_choose_policy")]

    operations = [
        migrations.AlterField(
            model_name="membership",
            name="role",
            field=models.CharField(choices=ROLES, max_length=16),
        ),
        migrations.RemoveConstraint(
            model_name="membership", name="membership_role_known"
        ),
        migrations.AddConstraint(
            model_name="membership",
            constraint=models.CheckConstraint(
                condition=models.Q(("role__in", [name for name, _ in ROLES])),
                name="membership_role_known",
            ),
        ),
        *list_secret_fields(),
        migrations.RunPython(give_codes, migrations.RunPython.noop),
        *(
            migrations.AlterField(
                name,
                "code",
                models.UUIDField(default=common.ids.uuid7, editable=False, unique=True),
            )
            for name in SECRETS
        ),
    ]
