"""What waits for people, and what they chose."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("ledger", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Review",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("pause", "Pause"),
                            ("request", "Request"),
                            ("question", "Question"),
                            ("confirmation", "Confirmation"),
                            ("exhausted", "Exhausted"),
                            ("loop_action", "Loop Action"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("ruled", "Ruled"),
                            ("expired", "Expired"),
                            ("superseded", "Superseded"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="open",
                        max_length=16,
                    ),
                ),
                ("title", models.CharField(max_length=300)),
                (
                    "content",
                    models.TextField(
                        help_text="Canonical JSON: exactly what was judged"
                    ),
                ),
                ("content_digest", models.CharField(max_length=71)),
                ("version", models.PositiveIntegerField(default=1)),
                ("step_number", models.PositiveIntegerField(null=True)),
                ("opened_at", models.DateTimeField()),
                ("due_at", models.DateTimeField()),
                ("on_expiry", models.CharField(max_length=16)),
                ("claimed_at", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "assignee",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reviews",
                        to="ledger.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AgentWait",
            fields=[
                (
                    "review",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="agent_wait",
                        serialize=False,
                        to="reviews.review",
                    ),
                ),
                ("seen_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Comment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="comments",
                        to="reviews.review",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GateCheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("step", models.PositiveIntegerField()),
                ("gates", models.TextField(help_text="The definitions, JSON")),
                (
                    "state",
                    models.TextField(help_text="Attempts and what came of them, JSON"),
                ),
                ("status", models.CharField(max_length=16)),
                ("opened_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "review",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="check_at_hand",
                        to="reviews.review",
                        to_field="code",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="checks",
                        to="ledger.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Permission",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                (
                    "scope",
                    models.CharField(
                        choices=[("exact", "Exact"), ("shape", "Shape")], max_length=8
                    ),
                ),
                ("tool", models.CharField(max_length=200)),
                (
                    "key",
                    models.CharField(help_text="Digest of `covers`", max_length=71),
                ),
                (
                    "covers",
                    models.TextField(
                        help_text="The call, with # for parts that may change"
                    ),
                ),
                ("rules", models.TextField(help_text="The rules it answers, JSON")),
                ("granted_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("uses_left", models.PositiveIntegerField()),
                ("used", models.PositiveIntegerField(default=0)),
                ("last_used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "granted_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="reviews.review"
                    ),
                ),
                (
                    "revoked_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, to="ledger.run"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Reading",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "pages",
                    models.PositiveIntegerField(
                        help_text="Pages served, from the first on"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="readings",
                        to="reviews.review",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Ruling",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("action", models.CharField(max_length=16)),
                ("note", models.TextField(default="")),
                ("answer", models.TextField(null=True)),
                (
                    "amended",
                    models.TextField(
                        help_text="Canonical JSON: the call as the person changed it",
                        null=True,
                    ),
                ),
                ("at", models.DateTimeField()),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "review",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="ruling",
                        to="reviews.review",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ToolCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("kind", models.CharField(max_length=16)),
                ("tool", models.CharField(max_length=200)),
                (
                    "key",
                    models.CharField(
                        help_text="The same for the same call", max_length=64
                    ),
                ),
                ("digest", models.CharField(max_length=80)),
                ("decision", models.CharField(max_length=24)),
                (
                    "seq",
                    models.PositiveIntegerField(
                        help_text="Of its entry in the run's chain"
                    ),
                ),
                ("judged_at", models.DateTimeField()),
                ("ok", models.BooleanField(null=True)),
                (
                    "output",
                    models.TextField(help_text="JSON, as the tool answered", null=True),
                ),
                ("result_digest", models.CharField(default="", max_length=71)),
                ("settled_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
                (
                    "review",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="call",
                        to="reviews.review",
                        to_field="code",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="ledger.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Grant",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("digest", models.CharField(max_length=80)),
                ("policy_hash", models.CharField(max_length=71)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("issued", "Issued"),
                            ("spent", "Spent"),
                            ("revoked", "Revoked"),
                            ("expired", "Expired"),
                        ],
                        default="issued",
                        max_length=16,
                    ),
                ),
                ("issued_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grants",
                        to="ledger.run",
                    ),
                ),
                (
                    "permission",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="reviews.permission",
                    ),
                ),
                (
                    "call",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="grant",
                        to="reviews.toolcall",
                        to_field="code",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="AdvisoryWarning",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                (
                    "code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("check_code", models.UUIDField()),
                ("text", models.TextField()),
                ("at", models.DateTimeField()),
                ("acknowledged_at", models.DateTimeField(null=True)),
                (
                    "acknowledged_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="warnings",
                        to="ledger.run",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("acknowledged_at__isnull", True)),
                        fields=["run"],
                        name="warning_not_yet_seen",
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["project", "state", "opened_at", "code", "kind", "assignee"],
                name="review_queue",
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["due_at"],
                name="review_due",
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(fields=["project", "-id"], name="review_by_project"),
        ),
        migrations.AddIndex(
            model_name="review",
            index=models.Index(fields=["run", "-id"], name="review_newest_of_run"),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "pause",
                            "request",
                            "question",
                            "confirmation",
                            "exhausted",
                            "loop_action",
                        ],
                    )
                ),
                name="review_kind_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("closed_at__isnull", True), ("state", "open")),
                    models.Q(
                        ("state__in", ["ruled", "expired", "superseded", "withdrawn"]),
                        ("closed_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="review_closed_has_time",
            ),
        ),
        migrations.AddIndex(
            model_name="gatecheck",
            index=models.Index(fields=["run", "-id"], name="check_newest_of_run"),
        ),
        migrations.AddIndex(
            model_name="gatecheck",
            index=models.Index(fields=["project", "-id"], name="check_newest"),
        ),
        migrations.AddIndex(
            model_name="permission",
            index=models.Index(
                condition=models.Q(("revoked_at__isnull", True)),
                fields=["project", "key"],
                name="permission_to_use",
            ),
        ),
        migrations.AddIndex(
            model_name="permission",
            index=models.Index(fields=["project", "-id"], name="permission_newest"),
        ),
        migrations.AddConstraint(
            model_name="reading",
            constraint=models.UniqueConstraint(
                fields=("review", "person"), name="reading_once_a_person"
            ),
        ),
        migrations.AddIndex(
            model_name="toolcall",
            index=models.Index(fields=["run", "-id"], name="call_newest_of_run"),
        ),
        migrations.AddIndex(
            model_name="toolcall",
            index=models.Index(
                condition=models.Q(("ok", True)),
                fields=["run", "key"],
                name="call_to_repeat",
            ),
        ),
        migrations.AddIndex(
            model_name="grant",
            index=models.Index(
                condition=models.Q(("state", "issued")),
                fields=["run"],
                name="grant_unspent",
            ),
        ),
        migrations.AddConstraint(
            model_name="grant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("state", "issued")),
                    models.Q(
                        ("ended_at__isnull", False),
                        ("state__in", ["spent", "revoked", "expired"]),
                    ),
                    _connector="OR",
                ),
                name="grant_end_has_time",
            ),
        ),
    ]
