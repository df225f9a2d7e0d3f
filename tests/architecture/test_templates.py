"""Templates are read line by line, and place sentences that Python has made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.template import Context, Template

from tests.runner.raw_numbers import RawNumber

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
LONGEST = 200


def list_lines() -> Iterator[tuple[str, str]]:
    for path in sorted(TEMPLATES.rglob("*.html")):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            yield f"{path.relative_to(TEMPLATES)}:{number}", line


def test_templates_are_found() -> None:
    assert {place.split("/")[0] for place, _ in list_lines()} >= {"console", "safetext"}


def test_no_line_is_too_long_to_read() -> None:
    assert [place for place, line in list_lines() if len(line) > LONGEST] == []


def test_no_plural_is_made_in_a_template() -> None:
    assert [place for place, line in list_lines() if "pluralize" in line] == []


@pytest.mark.parametrize("raw", [0.1, "31.57894736842105 %"])
def test_a_raw_number_cannot_reach_a_page(raw: object, database: None) -> None:
    with pytest.raises(RawNumber):
        Template("{{ raw }}").render(Context({"raw": raw}))
    shown = Template("{{ digest }} {{ share }}")
    context = Context({"digest": "open.1.8.0.1795085843816.0.1", "share": "31.58 %"})
    assert shown.render(context) == "open.1.8.0.1795085843816.0.1 31.58 %"
