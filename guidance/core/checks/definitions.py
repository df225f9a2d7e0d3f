"""What a quality gate asks for, how much it matters, and how often it may be tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType

from guidance.core.settings import flag, whole

SEVERITIES = ("critical", "high", "medium", "low")
# Strictest first.
MODES = ("blocking", "advisory", "informational")
MODE_OF_SEVERITY: Mapping[str, str] = MappingProxyType(
    {
        "critical": "blocking",
        "high": "advisory",
        "medium": "advisory",
        "low": "informational",
    }
)
VERIFIERS = ("command", "judge")
ATTEMPTS_LIMIT = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One sentence to be met.

    With a verifier, nobody is believed who only says that it is met: `command` asks
    for the result of that command, `judge` for the word of a judge.
    """

    text: str
    verifier: str | None = None
    command: str | None = None

    def to_json(self) -> str | dict[str, str]:
        if self.verifier is None:
            return self.text
        document = {"text": self.text, "verifier": self.verifier}
        return (
            document if self.command is None else document | {"command": self.command}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """`preserve_context` shows the next attempt what was said about the last."""

    max_attempts: int = whole(
        2,
        "Attempts",
        "After so many a person decides.",
        low=1,
        high=ATTEMPTS_LIMIT,
        unit="times",
    )
    improvement_hints: bool = flag(
        True, "Hints", "Whether the next attempt is told what to look at again."
    )
    preserve_context: bool = flag(
        True,
        "Context",
        "Whether the next attempt is told what was said about the last.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GateDefinition:
    """`slug` is the id by which a policy and a check name it."""

    slug: str
    name: str
    description: str = ""
    severity: str = "medium"
    mode: str = "advisory"
    criteria: tuple[Criterion, ...] = ()
    guidance: str = ""
    retry: Retry = field(default_factory=Retry)

    @property
    def hints(self) -> tuple[str, ...]:
        """What to look at again after a failure."""
        if not self.retry.improvement_hints:
            return ()
        if self.criteria:
            return tuple(criterion.text for criterion in self.criteria)
        return tuple((self.guidance or self.description).splitlines()[:1])

    def to_json(self) -> dict[str, object]:
        """The document that `read_gate` makes the same definition of."""
        optional = {"description": self.description, "guidance": self.guidance}
        return {
            "id": self.slug,
            "name": self.name,
            "severity": self.severity,
            "mode": self.mode,
            "criteria": [criterion.to_json() for criterion in self.criteria],
            "retry": asdict(self.retry),
            **{name: text for name, text in optional.items() if text},
        }


def get_strictest_mode(modes: tuple[str, ...]) -> str:
    """An unknown word is an error, and so is no mode at all."""
    return MODES[min(map(MODES.index, modes))]
