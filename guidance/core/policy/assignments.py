"""Which policy a run is judged by: the first assignment that fits it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """What is known of a run when it begins."""

    agent: str
    intent: str
    model: str
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """The runs that an assignment is for: all that is named has to fit, and "" fits all.

    `label` is a name and a value with a colon between them. `model` is a name, or the
    beginning of names and a star.
    """

    agent: str = ""
    label: str = ""
    intent: str = ""
    model: str = ""

    def fits(self, run: RunFacts) -> bool:
        return (
            self.agent in {"", run.agent}
            and self.intent in {"", run.intent}
            and self._fits_model(run.model)
            and self._fits_label(run.labels)
        )

    def _fits_model(self, model: str) -> bool:
        if self.model.endswith("*"):
            return model.startswith(self.model[:-1])
        return self.model in {"", model}

    def _fits_label(self, labels: Mapping[str, str]) -> bool:
        """A name may have colons, too: any of them may be the one between."""
        return not self.label or any(
            self.label == f"{name}:{value}" for name, value in labels.items()
        )

    def to_json(self) -> dict[str, str]:
        """Only what is named."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in values.items() if value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    match: Match
    policy: str

    def to_json(self) -> dict[str, object]:
        return {"match": self.match.to_json(), "policy": self.policy}


def find_assignment(
    assignments: Iterable[Assignment], run: RunFacts
) -> Assignment | None:
    """The first that fits; None if the project's default policy is to be used."""
    return next((each for each in assignments if each.match.fits(run)), None)
