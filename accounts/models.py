"""Projects, the people and agents in them, and the secrets that they send."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now

from common.ids import uuid7

# The agents that the server keeps chains of its own as, and the intents of their runs:
# the system loop's decisions, and the life of a project's policies. Nobody gets a key for
# them, and no agent can give these intents: such a run waits for nobody, is never
# abandoned, and counts as nobody's work.
SYSTEM_LOOP = "system-loop"
SYSTEM_POLICIES = "system-policies"
SYSTEM_AGENTS = (SYSTEM_LOOP, SYSTEM_POLICIES)


class Role(models.TextChoices):
    """What a person may do in a project; each role includes those before it."""

    REVIEWER = "reviewer", "Reviewer"
    MANAGER = "manager", "Manager"
    ADMIN = "admin", "Admin"

    def includes(self, other: Role) -> bool:
        order = list(Role)
        return order.index(self) >= order.index(other)


class User(AbstractUser):
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    must_change_password = models.BooleanField(default=False)

    def __str__(self) -> str:
        return self.username

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


class Project(models.Model):
    code = models.UUIDField(default=uuid7, unique=True, editable=False)
    slug = models.SlugField(max_length=64, unique=True)
    name = models.CharField(max_length=120)
    # Whether agents may name the policy of their runs; else its assignments alone do.
    agents_choose_policy = models.BooleanField(default=False, db_default=False)
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
    """A bearer secret: shown once, kept only as a digest, gone when revoked."""

    digest = models.CharField(max_length=64, unique=True)
    lookup = models.CharField(max_length=16, db_index=True)
    created_at = models.DateTimeField(db_default=Now())
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.lookup


class AgentKey(Secret):
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="keys")


class PersonalToken(Secret):
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
