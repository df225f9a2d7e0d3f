"""Both sides of each border of the search for secrets."""

from __future__ import annotations

from guidance.core.effort import Effort
from guidance.core.secrets.limits import LIMIT
from guidance.core.secrets.scan import scan
from tests.guidance.core.secrets.borders import BORDERS
from tests.guidance.core.secrets.samples import numbered
from tests.support.rows import each_row

HARMLESS = [text for texts, _ in BORDERS.values() for text in texts]
SECRET = [row for _, rows in BORDERS.values() for row in rows]


@each_row("text", HARMLESS, ids=numbered(HARMLESS))
def test_what_guards_nothing_is_let_alone(text: str) -> None:
    assert [text[hit.start : hit.end] for hit in scan(text, Effort(LIMIT))] == []


@each_row(("form", "secret"), SECRET, ids=numbered(form for form, _ in SECRET))
def test_what_looks_like_it_and_is_a_secret_is_found(form: str, secret: str) -> None:
    text = form.replace("§", secret)
    start = form.index("§")
    found = {
        at for hit in scan(text, Effort(LIMIT)) for at in range(hit.start, hit.end)
    }
    assert found >= set(range(start, start + len(secret)))
