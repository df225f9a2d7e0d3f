"""Webhooks, their deliveries and every attempt."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import common.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="WebhookEndpoint",
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
                ("url", models.CharField(max_length=2000)),
                ("description", models.CharField(default="", max_length=200)),
                ("types", models.JSONField()),
                (
                    "status",
                    models.CharField(
                        choices=[("active", "Active"), ("disabled", "Disabled")],
                        default="active",
                        max_length=16,
                    ),
                ),
                ("status_reason", models.CharField(default="", max_length=300)),
                ("status_at", models.DateTimeField()),
                ("salt", models.CharField(max_length=64)),
                (
                    "secret_digest",
                    models.CharField(
                        help_text="Tells whether the server's key is still the same",
                        max_length=64,
                    ),
                ),
                ("previous_salt", models.CharField(default="", max_length=64)),
                ("previous_until", models.DateTimeField(null=True)),
                (
                    "cursor",
                    models.BigIntegerField(
                        help_text="Position in the project's ledger"
                    ),
                ),
                (
                    "sequence",
                    models.BigIntegerField(
                        default=0, help_text="Last number handed out"
                    ),
                ),
                (
                    "quiet_until",
                    models.DateTimeField(help_text="It asked for a rest", null=True),
                ),
                ("failing_since", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "created_by",
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
            ],
        ),
        migrations.CreateModel(
            name="Delivery",
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
                ("event", models.UUIDField()),
                ("type", models.CharField(max_length=32)),
                ("body", models.TextField()),
                (
                    "number",
                    models.BigIntegerField(
                        help_text="Its place in the endpoint's sequence"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("leased", "Leased"),
                            ("retry_wait", "Retry Wait"),
                            ("delivered", "Delivered"),
                            ("dead", "Dead"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=16,
                    ),
                ),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("attempts_limit", models.PositiveIntegerField()),
                ("due_at", models.DateTimeField()),
                ("leased_by", models.UUIDField(null=True)),
                ("created_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="webhooks.webhookendpoint",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="DeliveryAttempt",
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
                ("number", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("ok", models.BooleanField()),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("error", models.CharField(default="", max_length=300)),
                ("duration_ms", models.PositiveIntegerField()),
                ("reply", models.CharField(default="", max_length=500)),
                (
                    "delivery",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tries",
                        to="webhooks.delivery",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("delivery", "number"), name="attempt_number_once"
                    )
                ],
            },
        ),
        migrations.AddIndex(
            model_name="webhookendpoint",
            index=models.Index(fields=["project", "-id"], name="endpoint_of_project"),
        ),
        migrations.AddConstraint(
            model_name="webhookendpoint",
            constraint=models.CheckConstraint(
                condition=models.Q(("status__in", ["active", "disabled"])),
                name="endpoint_status_known",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("state__in", ["queued", "leased", "retry_wait"])),
                fields=["endpoint", "due_at"],
                name="delivery_due",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("state", "leased")),
                fields=["leased_by"],
                name="delivery_leased",
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["endpoint", "-id"], name="delivery_newest"),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                fields=["endpoint", "state", "-id"], name="delivery_by_state"
            ),
        ),
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(
                condition=models.Q(("ended_at__isnull", False)),
                fields=["ended_at"],
                name="delivery_over",
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                fields=("endpoint", "event"), name="delivery_once_an_event"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.UniqueConstraint(
                fields=("endpoint", "number"), name="delivery_number_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="delivery",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("ended_at__isnull", True),
                        ("state__in", ["queued", "leased", "retry_wait"]),
                    ),
                    models.Q(
                        ("ended_at__isnull", False),
                        ("state__in", ["delivered", "dead", "cancelled"]),
                    ),
                    _connector="OR",
                ),
                name="delivery_end_has_time",
            ),
        ),
    ]
