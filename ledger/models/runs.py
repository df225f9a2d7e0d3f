"""What happened: runs, and the append-only hash chain of everything about them.

A run row is the projection of its own chain: the writer (`ledger.writer`) changes it
only together with the entries that say why, by compare-and-set on `head_hash`.
"""

from __future__ import annotations

from django.db import models

from accounts.models import Agent, Project
from common.ids import uuid7
from guidance.models import PolicyVersion
from ledger.chain import GENESIS
from ledger.models.fields import HashField, PackedTextField


class RunStatus(models.TextChoices):
    RUNNING = "running"
    PAUSED = "paused"
    STOPPED = "stopped"
    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"
    ABANDONED = "abandoned"


FINAL = frozenset({"completed", "failed", "aborted", "abandoned"})


# The label of runs that telemetry tells us of after the fact: no agent can give it.
OBSERVED = ("source", "opentelemetry")


class ProjectHead(models.Model):
    """The last position handed out in a project.

    PostgreSQL hands out ids before commit, so a reader could see row 8 before row 7.
    Positions come from this locked row instead: readers never see a gap close later.
    """

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.PROTECT, related_name="head"
    )
    position = models.BigIntegerField(default=0)
    # Raised by every change of the project's halts (`ledger.writer.halts`).
    halts_version = models.IntegerField(db_default=0)

    def __str__(self) -> str:
        return f"{self.project_id} at {self.position}"


class Run(models.Model):
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT)
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT)
    # Ids of the runs above it, from the top, each with a slash behind it: "12/40/". Empty
    # for a run at the top, and for one that merely follows its `parent`.
    lineage = models.CharField(max_length=2_000, default="")
    task = models.TextField()
    intent = models.CharField(max_length=16)
    model = models.CharField(max_length=200, default="")
    labels: models.JSONField[dict[str, str], dict[str, str]] = models.JSONField(
        default=dict
    )
    status = models.CharField(max_length=16, choices=RunStatus.choices)
    status_reason = models.TextField(default="")
    tokens_limit = models.BigIntegerField(null=True)
    tool_calls_limit = models.BigIntegerField(null=True)
    time_ms_limit = models.BigIntegerField(null=True)
    cost_micros_limit = models.BigIntegerField(null=True)
    tokens_used = models.BigIntegerField(default=0)
    tool_calls_used = models.BigIntegerField(default=0)
    time_ms_used = models.BigIntegerField(default=0)
    cost_micros_used = models.BigIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    rework_steps = models.PositiveIntegerField(default=0)
    last_step = models.PositiveIntegerField(default=0)
    last_checkpoint_step = models.PositiveIntegerField(default=0)
    last_decision = models.CharField(max_length=16, default="")
    memory = models.TextField(default="{}", help_text="What the gates remember, JSON")
    open_reviews = models.TextField(default="[]", help_text="Open reviews, JSON")
    head_seq = models.PositiveIntegerField(default=0)
    head_hash = models.CharField(max_length=64, default=GENESIS)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    # The server's clock: what passed before, since when it goes on, and when it reaches
    # the limit. All null where no clock was kept (docs/adr/0027).
    running_ms = models.BigIntegerField(null=True)
    running_since = models.DateTimeField(null=True)
    time_over_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(status__in=RunStatus.values),
                name="run_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(status__in=sorted(FINAL), finished_at__isnull=False)
                | (
                    ~models.Q(status__in=sorted(FINAL))
                    & models.Q(finished_at__isnull=True)
                ),
                name="run_final_has_finished_at",
            ),
        )
        indexes = (
            # The run list: newest first within a project, with or without a status.
            models.Index(fields=["project", "-id"], name="run_by_project"),
            models.Index(fields=["project", "status", "-id"], name="run_by_status"),
            # The same by the time it began, of all, of an agent or of a model.
            models.Index(
                fields=["project", "-created_at", "-id"], name="run_by_beginning"
            ),
            models.Index(fields=["agent", "-created_at", "-id"], name="run_by_agent"),
            models.Index(
                fields=["project", "model", "-created_at", "-id"], name="run_by_model"
            ),
            # How many runs an agent has open: counted when it starts one, or asks.
            models.Index(
                fields=["agent"],
                name="run_open_of_agent",
                condition=models.Q(status__in=["running", "paused"]),
            ),
            # Silent runs are looked for among those that run. By their beginning, which
            # stays: an index on what every step changes makes every step slower.
            models.Index(
                fields=["created_at"],
                name="run_running",
                condition=models.Q(status="running"),
            ),
            # Runs whose time is over. No step changes it.
            models.Index(
                fields=["time_over_at"],
                name="run_time_over",
                condition=models.Q(status="running"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.code} {self.status}"

    @property
    def observed(self) -> bool:
        """Whether it is only looked at: nothing ever holds it."""
        name, value = OBSERVED
        return self.labels.get(name) == value


class SharedUse(models.Model):
    """What runs have used up together; the writer counts it in the commit that uses it.

    `owner` is the id of an agent, of a project, or of a run: then it is what all runs
    below that one have used. Calls that wait for a person are counted. `period` is a day
    or a month in UTC, and empty for runs. `*_extra` is what a manager has given on top of
    the limit, `*_noticed` the percentage that the last notice told of.
    """

    scope = models.CharField(max_length=8)
    owner = models.BigIntegerField()
    period = models.CharField(max_length=10, default="")
    tokens = models.BigIntegerField(default=0)
    tool_calls = models.BigIntegerField(default=0)
    cost_micros = models.BigIntegerField(default=0)
    tokens_extra = models.BigIntegerField(default=0)
    tool_calls_extra = models.BigIntegerField(default=0)
    cost_micros_extra = models.BigIntegerField(default=0)
    tokens_noticed = models.PositiveSmallIntegerField(default=0)
    tool_calls_noticed = models.PositiveSmallIntegerField(default=0)
    cost_micros_noticed = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["scope", "owner", "period"], name="shared_use_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.scope} {self.owner} {self.period}".strip()


class Entry(models.Model):
    """One link of a run's chain. The database itself refuses UPDATE and DELETE."""

    # Found by the keys that begin with them.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_index=False)
    run = models.ForeignKey(
        Run, on_delete=models.PROTECT, related_name="entries", db_index=False
    )
    version = models.PositiveSmallIntegerField(help_text="Format of the hash")
    seq = models.PositiveIntegerField()
    position = models.BigIntegerField()
    at = models.DateTimeField()
    type = models.CharField(max_length=32)
    actor = models.CharField(max_length=64)
    payload = PackedTextField(help_text="Canonical JSON, hashed as stored")
    payload_sha256 = HashField(max_length=64)
    prev_hash = HashField(max_length=64)
    hash = HashField(max_length=64)
    step_number = models.PositiveIntegerField(null=True)
    decision = models.CharField(max_length=16, default="")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["run", "seq"], name="entry_seq_once"),
            models.UniqueConstraint(fields=["run", "prev_hash"], name="entry_no_fork"),
            models.UniqueConstraint(
                fields=["project", "position"], name="entry_position_once"
            ),
            models.UniqueConstraint(
                fields=["run", "step_number"],
                name="entry_step_once",
                condition=models.Q(step_number__isnull=False),
            ),
        )
        indexes = (
            # Few runs go on under another version: those are found without their steps.
            models.Index(
                fields=["run", "position"],
                name="entry_policy_moves",
                condition=models.Q(type="run.policy_changed"),
            ),
        )

    def __str__(self) -> str:
        return f"{self.type} #{self.seq}"


class RunEnd(models.Model):
    """The figures of a run that is over, in a small row of its own.

    The database itself copies them in the commit that ends the run (docs/adr/0030). Lists
    are sorted and summed by it: an index on what every step changes would make every step
    slower, and the run's own row is wide.
    """

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.PROTECT, related_name="end"
    )
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, db_index=False)
    policy = models.ForeignKey(PolicyVersion, on_delete=models.PROTECT, db_index=False)
    status = models.CharField(max_length=16)
    intent = models.CharField(max_length=16)
    model = models.CharField(max_length=200)
    created_at = models.DateTimeField()
    steps = models.PositiveIntegerField()
    tokens = models.BigIntegerField()
    cost_micros = models.BigIntegerField()
    # What was reported or what was measured, whichever is more.
    time_ms = models.BigIntegerField()
    # As its outcome has it; null where nothing was judged.
    accepted = models.BooleanField(null=True)

    class Meta:
        indexes = (
            models.Index(
                fields=["project", "created_at", "run"], name="end_by_beginning"
            ),
            models.Index(fields=["project", "cost_micros", "run"], name="end_by_cost"),
            models.Index(fields=["project", "tokens", "run"], name="end_by_tokens"),
            models.Index(fields=["project", "steps", "run"], name="end_by_steps"),
            models.Index(fields=["project", "time_ms", "run"], name="end_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.run_id} {self.status}"


class RunWords(models.Model):
    """The words by which a run is found, each once, with spaces between them.

    A task keeps them (`ledger.run_list.indexing`); each database has its own index of words
    over them (docs/adr/0032).
    """

    run = models.OneToOneField(
        Run, primary_key=True, on_delete=models.PROTECT, related_name="words"
    )
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_index=False)
    text = models.TextField()

    def __str__(self) -> str:
        return f"words of {self.run_id}"


class WordsIndexed(models.Model):
    """How far the words of a project's runs are kept: its ledger's position, and the
    newest run among the entries up to there."""

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.CASCADE, related_name="+"
    )
    position = models.BigIntegerField(default=0)
    newest_run = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.project_id} at {self.position}"


class RunOutcome(models.Model):
    """How a run was judged when it finished; all of it stands in its last entry.

    A row of its own, so that the run's, which every step changes, stays small.
    """

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="outcome")
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    at = models.DateTimeField()
    accepted = models.BooleanField(null=True)
    evaluations = models.TextField(help_text="What each evaluator said, JSON")
    lines_added = models.PositiveBigIntegerField()
    lines_removed = models.PositiveBigIntegerField()
    files_changed = models.PositiveBigIntegerField()
    rework_lines = models.PositiveBigIntegerField(null=True)

    class Meta:
        indexes = (
            models.Index(fields=["project", "at"], name="outcome_by_time"),
            # How many of a list were accepted, without reading the rows.
            models.Index(fields=["project", "run", "accepted"], name="outcome_by_run"),
            # Few runs are not accepted, and those are looked for.
            models.Index(
                fields=["project", "-run"],
                name="outcome_not_accepted",
                condition=models.Q(accepted=False),
            ),
        )

    def __str__(self) -> str:
        return f"{self.run_id} accepted: {self.accepted}"


class Checkpoint(models.Model):
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="checkpoints")
    step = models.PositiveIntegerField()
    label = models.CharField(max_length=200, default="")
    # Text: a database's own JSON would write 1e22 with all its noughts.
    state = models.TextField(default="{}", help_text="JSON, as the agent sent it")
    created_at = models.DateTimeField()

    class Meta:
        indexes = (models.Index(fields=["run", "-id"], name="checkpoint_newest"),)

    def __str__(self) -> str:
        return f"{self.run_id} at step {self.step}"


class IdempotencyRecord(models.Model):
    """What was answered to a key, written in the transaction that did the work."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, db_index=False)
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    body = models.TextField()
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["agent", "key"], name="idempotency_once"),
        )

    def __str__(self) -> str:
        return self.key
