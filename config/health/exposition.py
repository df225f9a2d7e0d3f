"""Figures as Prometheus reads them: text format 0.0.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with its samples; names of counters end with `_total`."""

    name: str
    help: str
    samples: Iterable[tuple[Labels, float]]

    @property
    def kind(self) -> str:
        return "counter" if self.name.endswith("_total") else "gauge"


def render_families(families: Iterable[Family]) -> str:
    return "".join(line + "\n" for each in families for line in _list_lines(each))


def _list_lines(family: Family) -> Iterable[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for labels, value in family.samples:
        named = ",".join(f'{k}="{v.translate(_ESCAPES)}"' for k, v in labels.items())
        yield (
            f"{family.name}{{{named}}} {value!r}"
            if named
            else (f"{family.name} {value!r}")
        )
