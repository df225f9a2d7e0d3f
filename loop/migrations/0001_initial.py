"""The system loop: what it noticed, decided and did."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("guidance", "0001_initial"),
        ("ledger", "0001_initial"),
        ("reviews", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Decision",
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
                ("code", models.UUIDField(editable=False, unique=True)),
                (
                    "seq",
                    models.PositiveIntegerField(
                        help_text="Its entry in that run's chain"
                    ),
                ),
                ("trigger_source", models.CharField(max_length=8)),
                ("trigger_type", models.CharField(max_length=32)),
                ("identity", models.CharField(max_length=71)),
                ("decider", models.CharField(max_length=8)),
                ("action", models.CharField(max_length=32)),
                ("kind", models.CharField(default="", max_length=64)),
                ("outcome", models.CharField(max_length=24)),
                ("reasoning", models.TextField()),
                (
                    "snapshot",
                    models.TextField(help_text="JSON, each value with its time"),
                ),
                ("state_hash", models.CharField(max_length=71)),
                (
                    "proposal",
                    models.TextField(help_text="JSON: what the decider wanted"),
                ),
                (
                    "shadow",
                    models.TextField(
                        default="null", help_text="JSON: a model's, on paper"
                    ),
                ),
                (
                    "guardrails",
                    models.TextField(default="[]", help_text="JSON: the rails it met"),
                ),
                (
                    "event",
                    models.TextField(
                        default="null", help_text="JSON: what was emitted"
                    ),
                ),
                ("approval_required", models.BooleanField(default=False)),
                ("cost_micros", models.BigIntegerField(default=0)),
                ("decided_at", models.DateTimeField()),
                ("counted_at", models.DateTimeField(null=True)),
                ("resolved_at", models.DateTimeField(null=True)),
                ("reported", models.CharField(default="", max_length=16)),
                (
                    "report",
                    models.TextField(
                        default="null", help_text="JSON: what came of the event"
                    ),
                ),
                ("reported_at", models.DateTimeField(null=True)),
                (
                    "policy",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="guidance.policyversion",
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
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="loop_decision",
                        to="reviews.review",
                        to_field="code",
                    ),
                ),
                (
                    "root",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="loop.decision",
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
            name="ProjectLoop",
            fields=[
                (
                    "project",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="loop",
                        serialize=False,
                        to="accounts.project",
                    ),
                ),
                ("paused_at", models.DateTimeField(null=True)),
                ("paused_reason", models.TextField(default="")),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("looked_at", models.DateTimeField(null=True)),
                ("well_told_at", models.DateTimeField(null=True)),
                ("learned_at", models.DateTimeField(null=True)),
                (
                    "heard",
                    models.BigIntegerField(
                        default=0,
                        help_text="Ledger position up to which run ends became signals",
                    ),
                ),
                (
                    "told",
                    models.BigIntegerField(
                        default=0,
                        help_text="Ledger position up to which subscribers were told",
                    ),
                ),
                (
                    "paused_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        to="ledger.run",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Signal",
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
                    "decision_code",
                    models.UUIDField(
                        default=common.ids.uuid7, editable=False, unique=True
                    ),
                ),
                ("type", models.CharField(max_length=32)),
                ("source", models.CharField(max_length=8)),
                ("actor", models.CharField(max_length=64)),
                ("data", models.TextField(default="{}", help_text="Canonical JSON")),
                ("identity", models.CharField(max_length=71)),
                ("dedupe_key", models.CharField(max_length=255, null=True)),
                ("position", models.BigIntegerField(null=True)),
                ("pending", models.BooleanField(default=True)),
                ("leased_until", models.DateTimeField(null=True)),
                ("received_at", models.DateTimeField()),
                (
                    "cause",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="effects",
                        to="loop.decision",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="decision",
            name="signal",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="decision",
                to="loop.signal",
            ),
        ),
        migrations.CreateModel(
            name="Incident",
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
                ("condition", models.CharField(max_length=120)),
                ("severity", models.CharField(max_length=8)),
                ("title", models.CharField(max_length=200)),
                ("detail", models.TextField(default="")),
                ("joins", models.PositiveIntegerField(default=0)),
                ("opened_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField(help_text="When it last fired")),
                (
                    "changed_at",
                    models.DateTimeField(help_text="The last change told", null=True),
                ),
                ("resolved_at", models.DateTimeField(null=True)),
                (
                    "decision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="incidents",
                        to="loop.decision",
                        to_field="code",
                    ),
                ),
                (
                    "previous",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="successor",
                        to="loop.incident",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "condition", "-id"], name="incident_newest"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("resolved_at__isnull", True)),
                        fields=("project", "condition"),
                        name="incident_open_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Note",
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
                ("text", models.TextField()),
                ("data", models.TextField(default="{}", help_text="Canonical JSON")),
                ("actor", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("claimed", "Claimed"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                        ],
                        default="queued",
                        max_length=8,
                    ),
                ),
                ("claimed_until", models.DateTimeField(null=True)),
                ("claims", models.PositiveIntegerField(default=0)),
                (
                    "reason",
                    models.TextField(
                        default="", help_text="What whoever ended it said"
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "decision",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="notes",
                        to="loop.decision",
                        to_field="code",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "state", "id"], name="note_queue"),
                    models.Index(
                        condition=models.Q(("state", "claimed")),
                        fields=["claimed_until"],
                        name="note_claimed",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "claimed", "done", "failed"])
                        ),
                        name="note_state_known",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Recommendation",
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
                ("title", models.CharField(max_length=200)),
                ("detail", models.TextField(default="")),
                ("change", models.TextField(help_text="Canonical JSON")),
                ("actor", models.CharField(max_length=64)),
                ("key", models.CharField(default="", max_length=200)),
                (
                    "evidence",
                    models.TextField(
                        default="null",
                        help_text="JSON: the counted facts that it was learned from",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("drafted", "Drafted"),
                            ("adopted", "Adopted"),
                            ("dismissed", "Dismissed"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                (
                    "draft",
                    models.TextField(
                        default="null", help_text="JSON: what adopting would do"
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "adopted_as",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="guidance.policyversion",
                    ),
                ),
                (
                    "decision",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="recommendations",
                        to="loop.decision",
                        to_field="code",
                    ),
                ),
                (
                    "ended_by",
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
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "state", "id"], name="recommendation_queue"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["pending", "drafted", "adopted", "dismissed"],
                            )
                        ),
                        name="recommendation_state_known",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ["pending", "drafted"]),
                            models.Q(("key", ""), _negated=True),
                        ),
                        fields=("project", "key"),
                        name="recommendation_open_once",
                    ),
                ],
            },
        ),
        migrations.AddIndex(
            model_name="signal",
            index=models.Index(
                condition=models.Q(("pending", True)),
                fields=["project", "id"],
                name="signal_pending",
            ),
        ),
        migrations.AddConstraint(
            model_name="signal",
            constraint=models.UniqueConstraint(
                condition=models.Q(("dedupe_key__isnull", False)),
                fields=("project", "dedupe_key"),
                name="signal_key_once",
            ),
        ),
        migrations.AddConstraint(
            model_name="signal",
            constraint=models.UniqueConstraint(
                condition=models.Q(("position__isnull", False)),
                fields=("project", "position"),
                name="signal_heard_once",
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(fields=["project", "-id"], name="decision_newest"),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                fields=["project", "decided_at"], name="decision_of_day"
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("counted_at__isnull", False)),
                fields=["project", "action", "counted_at"],
                name="decision_counted",
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                fields=["project", "identity"], name="decision_of_trigger"
            ),
        ),
        migrations.AddIndex(
            model_name="decision",
            index=models.Index(
                condition=models.Q(("cost_micros__gt", 0)),
                fields=["project", "decided_at"],
                name="decision_cost",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "action__in",
                        (
                            "start_loop",
                            "process_notes",
                            "apply_retro_recommendation",
                            "emit_alert",
                            "do_nothing",
                        ),
                    )
                ),
                name="decision_action_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "outcome__in",
                        (
                            "emitted",
                            "noop",
                            "rate_limited",
                            "budget_denied",
                            "approval_required",
                            "approved_and_emitted",
                            "approval_denied",
                            "deduplicated",
                            "invalid_decision",
                        ),
                    )
                ),
                name="decision_outcome_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="decision",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("approval_required", False),
                    models.Q(("outcome", "emitted"), _negated=True),
                    _connector="OR",
                ),
                name="decision_harm_was_approved",
            ),
        ),
    ]
