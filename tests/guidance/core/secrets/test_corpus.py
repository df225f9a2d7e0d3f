"""Every case of the corpus: secrets are found whole, everything else is let alone."""

from __future__ import annotations

from guidance.core.effort import Effort
from guidance.core.secrets.limits import LIMIT
from guidance.core.secrets.scan import scan
from tests.guidance.core.secrets.corpus import FOUND, LET_ALONE
from tests.guidance.core.secrets.samples import numbered
from tests.support.rows import each_row


def test_the_corpus_is_large_enough_to_mean_something() -> None:
    assert len(FOUND) >= 150
    assert len(LET_ALONE) >= 150


@each_row(("form", "secret"), FOUND, ids=numbered(form for form, _ in FOUND))
def test_a_secret_is_found_from_its_first_to_its_last_character(
    form: str, secret: str
) -> None:
    text = form.replace("§", secret)
    start = text.index(secret)
    found = {
        at for hit in scan(text, Effort(LIMIT)) for at in range(hit.start, hit.end)
    }
    assert found >= set(range(start, start + len(secret)))


@each_row("text", LET_ALONE, ids=numbered(LET_ALONE))
def test_what_is_no_secret_is_let_alone(text: str) -> None:
    assert [text[hit.start : hit.end] for hit in scan(text, Effort(LIMIT))] == []
