"""Coding agents that are governed through their hooks: their sessions and tool uses."""

from __future__ import annotations

from django.db import models

from accounts.models import Agent
from ledger.models import Run
from reviews.models.call import ToolCall


class HookSession(models.Model):
    """A session of a coding agent, and the run it is just now.

    `owed_*` is what was used while the run took no steps; the next step carries it.
    """

    agent = models.ForeignKey(Agent, on_delete=models.PROTECT)
    dialect = models.CharField(max_length=16)
    session = models.CharField(max_length=200)
    run = models.ForeignKey(Run, null=True, on_delete=models.PROTECT)
    model = models.CharField(max_length=200, default="")
    headless = models.BooleanField(default=False)
    owed_tokens = models.BigIntegerField(default=0)
    owed_cost_micros = models.BigIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["agent", "dialect", "session"], name="hook_session_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.dialect} {self.session}"


class HookAnswer(models.TextChoices):
    """What the coding agent was told last about a tool use."""

    NOTHING_YET = ""
    GO = "go"
    ALLOW = "allow"
    DENY = "deny"
    ASK = "ask", "Asked at the terminal"
    DEFER = "defer"
    LEFT = "left", "It hung up before there was an answer"


class HookCall(models.Model):
    """A tool use of a session and the call it was judged as.

    The same tool use comes again when a parked session is resumed. Two tool uses may
    point to one call: when an agent asks again for what still waits for a person.
    """

    session = models.ForeignKey(
        HookSession, on_delete=models.PROTECT, related_name="calls"
    )
    tool_use = models.CharField(max_length=200)
    call = models.ForeignKey(ToolCall, to_field="code", on_delete=models.PROTECT)
    fingerprint = models.CharField(max_length=64, help_text="Of the tool and its input")
    answer = models.CharField(
        max_length=8,
        choices=HookAnswer.choices,
        default=HookAnswer.NOTHING_YET,
        blank=True,
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["session", "tool_use"], name="hook_call_once"
            ),
        )
        indexes = (
            models.Index(fields=["session", "fingerprint"], name="hook_call_alike"),
        )

    def __str__(self) -> str:
        return f"{self.tool_use} {self.answer}"
