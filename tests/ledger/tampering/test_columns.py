"""Every column that is stored is compared with a chain, or there is a reason why not."""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.db.models import Field, ForeignKey, Model

from reviews.row_checks import administration_tables, stored
from reviews.row_checks.stored import Table

OURS = (
    *("accounts", "guidance", "ledger", "reviews", "gateway", "loop", "webhooks"),
    *("notifications", "console"),
)
# Compared by checks of their own: whole tables.
ELSEWHERE = {
    *("ledger.Entry", "ledger.ProjectHead", "ledger.Halt", "ledger.SharedUse"),
    *("ledger.Run", "guidance.Policy", "guidance.PolicyVersion"),
    *("guidance.PolicyActivation", "guidance.PolicyAssignment"),
}
# No chain tells of them, and nothing is allowed or refused by what they say.
UNTOLD = {
    "figures, words to search, and how far they were counted": {
        *("ledger.PeriodCount", "ledger.PeriodTotals", "ledger.StatisticsCursor"),
        *("ledger.RunEnd", "ledger.RunWords", "ledger.WordsIndexed"),
    },
    "answers that are given again, sessions of hosts, and waiting agents": {
        *("ledger.IdempotencyRecord", "gateway.HookCall", "gateway.HookSession"),
        "reviews.AgentWait",
    },
    "jobs and what they found": {
        *("ledger.ProjectVerification", "reviews.Backtest", "reviews.BacktestItem"),
        *("reviews.BacktestUnchanged", "reviews.SuggestionSearch"),
    },
    "what people chose for their own screen, read, or were sent": {
        *("console.Preferences", "console.SavedView", "reviews.Reading"),
        *("reviews.Mention", "notifications.Notice", "notifications.QueueNotice"),
        *("notifications.Recipient", "accounts.SignIn"),
    },
    "programs that are told": {
        *("webhooks.WebhookEndpoint", "webhooks.Delivery", "webhooks.DeliveryAttempt"),
    },
    "the loop, whose own log is told by its runs": {
        *("loop.Decision", "loop.Incident", "loop.Note", "loop.ProjectLoop"),
        *("loop.Recommendation", "loop.Signal"),
    },
    "who took an export": {"ledger.LedgerExport"},
}
UNTOLD_COLUMNS = {
    "when a row was made, used or seen last": {
        *("accounts.Agent.created_at", "accounts.AgentKey.created_at"),
        *("accounts.AgentKey.last_used_at", "accounts.Membership.created_at"),
        *("accounts.PersonalToken.created_at", "accounts.PersonalToken.last_used_at"),
        *("accounts.Project.created_at", "accounts.User.date_joined"),
        *("accounts.User.last_login", "reviews.Permission.last_used_at"),
    },
    "what a name or an address is read from": {
        *("accounts.PersonalToken.name", "accounts.PersonalToken.parent"),
        *("accounts.Project.code", "reviews.Ruling.code", "reviews.Comment.code"),
        *("reviews.Comment.reply_to", "reviews.SealedLook.project"),
        *("accounts.User.email", "accounts.User.new_email", "accounts.User.time_zone"),
        *("accounts.User.new_email_sent_at", "accounts.User.first_name"),
        "accounts.User.last_name",
    },
    "Django's own, by which nobody gets in here": {
        *("accounts.User.is_active", "accounts.User.is_staff"),
        "accounts.User.is_superuser",
    },
    "an invitation that is open no more is not compared": {
        *("accounts.Invitation.accepted_at", "accounts.Invitation.withdrawn_at"),
        *("accounts.Invitation.sent_at", "accounts.Invitation.token"),
    },
    "compared with the project's chain of policies": {
        "accounts.Project.agents_choose_policy"
    },
    "how the queue is sorted and grouped": {
        *("reviews.Review.alike_key", "reviews.Review.claimed_until"),
        *("reviews.Review.snoozed_seq", "reviews.Review.urgency"),
        *("reviews.RulingFact.agent", "reviews.RulingFact.alike_key"),
        *("reviews.RulingFact.rule", "reviews.RulingFact.rules"),
        *("reviews.RulingFact.severity", "reviews.RulingFact.text"),
    },
    "a shadow decides nothing": {
        *("reviews.PolicyShadow.by", "reviews.PolicyShadow.end"),
        *("reviews.PolicyShadow.ended_at", "reviews.PolicyShadow.ends_at"),
        *("reviews.PolicyShadow.note", "reviews.PolicyShadow.policy"),
        *("reviews.PolicyShadow.project", "reviews.PolicyShadow.same_calls"),
        *("reviews.PolicyShadow.same_steps", "reviews.PolicyShadow.started_at"),
        "reviews.PolicyShadow.version",
    },
}


def list_columns() -> set[str]:
    return {
        f"{model._meta.label}.{field.name}"
        for model in apps.get_models()
        if model._meta.app_label in OURS
        for field in model._meta.concrete_fields
        if not field.primary_key or isinstance(field, ForeignKey)
    }


def list_compared(table: Table) -> Iterator[str]:
    """The columns that a kind of rows is read from, also those of other tables."""
    for path in (table.run, *table.key, *table.values.values()):
        model: type[Model] = table.rows.model
        for part in path.split("__"):
            if part in ("pk", "counted"):
                break
            field = model._meta.get_field(part)
            if not isinstance(field, Field):  # from the person to their places
                break
            yield f"{model._meta.label}.{field.name}"
            if isinstance(field, ForeignKey):
                model = field.related_model


def build_compared() -> set[str]:
    tables = (
        *stored.TABLES,
        *administration_tables.TABLES,
        *administration_tables.OWN_TABLES,
    )
    return {column for table in tables for column in list_compared(table)}


def test_every_column_is_compared_or_has_a_reason_not_to_be() -> None:
    columns = list_columns()
    whole = ELSEWHERE.union(*UNTOLD.values())
    single = set().union(*UNTOLD_COLUMNS.values())
    left = columns - build_compared()
    assert {each for each in left if each.rpartition(".")[0] not in whole} == single
    assert whole <= {each.rpartition(".")[0] for each in columns}
