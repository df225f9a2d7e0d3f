"""What a multi-edit asks for, what a plan is made of, and why one is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# How a text was found: to the letter, by lines whose white space differs, or by lines
# that are nearly the same.
Layer = Literal["exact", "whitespace", "similarity"]

Trouble = Literal["empty-old", "no-match", "ambiguous", "overlap", "too-large"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Put `new` where `old` stands: in its only place, or in all of them."""

    old: str
    new: str
    replace_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMatch:
    """Where an edit applies in the original; edits count from 0, places from 1."""

    edit: int
    line: int
    column: int
    layer: Layer

    def to_json(self) -> dict[str, object]:
        return {
            "edit": self.edit,
            "line": self.line,
            "column": self.column,
            "layer": self.layer,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EditProblem:
    """Why nothing is done. `line` and `column` are there where a place is meant."""

    edit: int
    trouble: Trouble
    message: str
    line: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EditRefusal:
    """Every problem of the edits; the file stays as it is."""

    problems: tuple[EditProblem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPlan:
    """The whole result. A grant is bound to `result_sha256`, a person sees `diff`."""

    result: str
    result_sha256: str
    diff: str
    matches: tuple[EditMatch, ...]
    lines_added: int
    lines_removed: int
