"""Projects, the people and agents in them, and the secrets that they send."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.hashers import check_password
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now

from common.ids import uuid7

# The agents that the server keeps chains of its own as, and the intents of their runs:
# the system loop's decisions, the life of a project's policies, and what is done to its
# people, agents and keys. Nobody gets a key for them, and no agent can give these intents:
# such a run waits for nobody, is never abandoned, and counts as nobody's work.
SYSTEM_LOOP = "system-loop"
SYSTEM_POLICIES = "system-policies"
SYSTEM_SETTINGS = "system-settings"
SYSTEM_AGENTS = (SYSTEM_LOOP, SYSTEM_POLICIES, SYSTEM_SETTINGS)


class Role(models.TextChoices):
    """What a person may do in a project; each role may do what those before it may.

    Auditors change nothing, and yet they see what reviewers do not: `sees_all`.
    """

    AUDITOR = "auditor", "Auditor"
    REVIEWER = "reviewer", "Reviewer"
    MANAGER = "manager", "Manager"
    ADMIN = "admin", "Admin"

    def includes(self, other: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)

    @property
    def sees_all(self) -> bool:
        """Whether they see what managers see: webhooks, settings, figures of people."""
        return self is Role.AUDITOR or self.includes(Role.MANAGER)


class Scope(models.TextChoices):
    """What a key is good for beside reading."""

    RUNS = "runs:write", "Runs"
    LOOP = "loop:write", "Loop"
    EVALUATE = "evaluate", "Evaluate"


# As a key keeps them.
ALL_SCOPES = " ".join(Scope.values)


class User(AbstractUser):
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    must_change_password = models.BooleanField(default=False)
    # An address that they have not confirmed yet, and when they were last asked to. Mail
    # goes to `email` alone.
    new_email = models.EmailField(blank=True, default="", db_default="")
    new_email_sent_at = models.DateTimeField(null=True, blank=True)
    # As in "Europe/Berlin"; empty: times in mail are in UTC.
    time_zone = models.CharField(max_length=64, blank=True, default="", db_default="")

    def __str__(self) -> str:
        return self.username

    def check_password(self, raw_password: str | None) -> bool:
        """Check it as Django does, and tell the chain where the hash is made anew."""

        def replace(raw: str) -> None:
            self.set_password(raw)
            self._password = None  # it was not changed: nothing has to be told
            for store in _stores_of_hashes:
                store(self)

        return check_password(raw_password, self.password, replace)

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


_stores_of_hashes: list[Callable[[User], None]] = []


def register_store_of_hashes(store: Callable[[User], None]) -> None:
    """For the app above that records it, at start-up."""
    _stores_of_hashes[:] = [store]


class Project(models.Model):
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    # Whether agents may name the policy of their runs; else its assignments alone do.
    agents_choose_policy = models.BooleanField(default=False, db_default=False)
    # The name of the policy for runs that no assignment takes.
    default_policy = models.CharField(
        max_length=64, default="default", db_default="default"
    )
    # For how many days exports of the ledger are listed; None is for ever.
    retention_days = models.PositiveSmallIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    members = models.ManyToManyField(User, through="Membership")

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    role = models.CharField(max_length=16, choices=Role.choices)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "user"], name="membership_once_per_project"
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"


class Agent(models.Model):
    project = models.ForeignKey(Project, on_delete=models.PROTECT)
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    name = models.CharField(max_length=120)
    # Who answers for it. Agents from before there were owners have none.
    owner = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.PROTECT, related_name="agents"
    )
    description = models.CharField(
        max_length=400, blank=True, default="", db_default=""
    )
    # What all its runs may use in a day, beside what policies say: the stricter holds.
    tokens_limit = models.BigIntegerField(null=True, blank=True)
    tool_calls_limit = models.BigIntegerField(null=True, blank=True)
    cost_micros_limit = models.BigIntegerField(null=True, blank=True)
    # While it is disabled none of its keys opens anything.
    disabled_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "name"], name="agent_name_once_per_project"
            ),
        )

    def __str__(self) -> str:
        return self.name


class Secret(models.Model):
    """A bearer secret: shown once, kept only as a digest, no good once revoked or expired."""

    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    name = models.CharField(max_length=60, blank=True, default="", db_default="")
    digest = models.CharField(max_length=64, unique=True)
    lookup = models.CharField(max_length=16, db_index=True)
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.lookup


class AgentKey(Secret):
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="keys")
    scopes = models.CharField(max_length=120, default=ALL_SCOPES, db_default=ALL_SCOPES)
    # None: a command of the server, or before it was kept.
    created_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )


class PersonalToken(Secret):
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    # The token it was made with, and ends with. None: a browser, or a command.
    parent = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="children",
    )


class Invitation(models.Model):
    """A place in a project for somebody who is to come: by a link that works once."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, related_name="invitations"
    )
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    email = models.EmailField()
    role = models.CharField(max_length=16, choices=Role.choices)
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # The token it was made with, and ends with. None: a browser.
    token = models.ForeignKey(
        PersonalToken,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="invitations",
    )
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=["project", "email"],
                condition=models.Q(accepted_at=None, withdrawn_at=None),
                name="invitation_once_per_address",
            ),
        )

    def __str__(self) -> str:
        return f"{self.email} as {self.role}"


class SignIn(models.Model):
    """A browser in which a person is signed in; its session may have ended since."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="sign_ins")
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    session_key = models.CharField(max_length=40, unique=True)
    browser = models.CharField(max_length=80)
    address = models.CharField(max_length=64)
    created_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.browser
