"""What the API of policies takes and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator

from common.fields import Id, Moment
from reviews.schemas.fields import Body, Intent

# A policy that writes out everything is 12 KB; the API takes no larger body than 1 MiB.
TEXT_LIMIT = 500_000
POLICY_NAME_LIMIT = 64
PolicyName = Annotated[
    str,
    StringConstraints(
        max_length=POLICY_NAME_LIMIT, pattern=r"^[a-z0-9]+(?:[-_.][a-z0-9]+)*$"
    ),
]
Slug = Annotated[str, StringConstraints(max_length=64)]


class DocumentIn(Body):
    """A whole policy, as JSON or as YAML: what is left out has its default."""

    document: dict[str, Any] | None = None
    yaml: Annotated[str, StringConstraints(max_length=TEXT_LIMIT)] | None = None

    @model_validator(mode="after")
    def check_one_is_given(self) -> DocumentIn:
        if (self.document is None) == (self.yaml is None):
            raise ValueError("give either document or yaml")
        return self


class ValidateIn(DocumentIn):
    """`name` is the policy it is compared with. `project` is needed if you are in
    several."""

    name: PolicyName = "default"
    project: Slug | None = None


Note = Annotated[str, StringConstraints(max_length=4_000)]
VersionNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]
VersionSeen = Annotated[int, Field(ge=0, le=2**31 - 1)]


class ActIn(Body):
    """`note` says why. With `apply_to_running` runs in progress go on under the version
    that comes into force, from their next step. `based_on` is the version that you have seen in force: another one
    there now is 412 (0: none). `project` is needed if you are in several."""

    note: Note = ""
    apply_to_running: bool = False
    based_on: VersionSeen | None = None
    project: Slug | None = None


class VersionIn(ActIn, DocumentIn):
    """The next version of a policy, whole. It binds nobody unless you activate it."""

    activate: bool = False


class ActivateIn(ActIn):
    """Put a version in force for new runs; restoring an old one is the same."""


class MatchIn(Body):
    """All that you name has to fit. `label` is `name:value`; `model` may end with `*`."""

    agent: Annotated[str, StringConstraints(min_length=1, max_length=120)] = ""
    label: Annotated[str, StringConstraints(min_length=1, max_length=400)] = ""
    intent: Intent | Literal[""] = ""
    model: Annotated[str, StringConstraints(min_length=1, max_length=200)] = ""


class AssignmentIn(Body):
    """Runs that fit `match` are judged by this policy."""

    match: MatchIn
    policy: PolicyName


class ExampleRun(BaseModel):
    """A run of the last week."""

    id: Id
    agent: str
    task: str


class LastWeek(BaseModel):
    """How many of the newest runs of the last week it would have taken."""

    runs: int
    examples: list[ExampleRun]


class AssignmentOut(BaseModel):
    """The first that fits a run wins; else the policy `default` is used."""

    match: dict[str, str]
    policy: str
    last_week: LastWeek | None = None


class FaultOut(BaseModel):
    """One fault of a document; line and column where it was given as YAML."""

    loc: list[str | int]
    message: str
    line: int | None = None
    column: int | None = None


class DifferenceOut(BaseModel):
    """One setting that differs; null where it is left out. `meaning` says it in words."""

    path: str
    before: Any = Field(description="null where the setting is left out")
    after: Any = Field(description="null where the setting is left out")
    meaning: str


class ValidationOut(BaseModel):
    """Whether it could be published, and what it would change."""

    ok: bool
    errors: list[FaultOut]
    changes: list[DifferenceOut]


class PolicyOut(BaseModel):
    """A policy by its name, and the version of it that is in force."""

    project: str
    name: str
    version: int | None = Field(description="null while there are only drafts")
    hash: str | None
    versions: int
    note: str | None = Field(description="why this version was put in force")
    by: str | None = Field(description="who did; null: nobody, it came with Checkrail")
    at: Moment | None


class PolicyList(BaseModel):
    """The project's default first, the others by name."""

    items: list[PolicyOut]


class VersionOut(BaseModel):
    """One version of a policy, which never changes."""

    name: str
    version: int
    hash: str
    active: bool = Field(description="in force for new runs")
    note: str
    by: str | None = Field(description="null: it came with Checkrail")
    at: Moment


class ActedVersionOut(VersionOut):
    """The version, and the review if a second manager has to approve it first."""

    review: Id | None = None


class VersionList(BaseModel):
    """All versions of a policy, the newest first."""

    items: list[VersionOut]


class WholeVersionOut(VersionOut):
    """The version with what it says."""

    document: dict[str, Any]
    yaml: str


class DifferenceList(BaseModel):
    """Every setting that differs, by path."""

    items: list[DifferenceOut]
