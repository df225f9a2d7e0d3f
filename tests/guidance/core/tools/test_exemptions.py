"""Values that a manager has said are no secrets: only where all that was found is told."""

from __future__ import annotations

import pytest

from guidance.core.tools.exemptions import (
    Exempted,
    apply_exemptions,
    list_blocking_fingerprints,
)
from guidance.core.tools.judge_call import FINDINGS_LIMIT
from tests.guidance.core.secrets.samples import body
from tests.guidance.core.tools.builders import judged, use


@pytest.mark.parametrize(
    ("count", "decision"),
    [(FINDINGS_LIMIT - 1, "allow"), (FINDINGS_LIMIT + 1, "block")],
)
def test_where_more_was_found_than_is_told_nothing_is_exempted(
    count: int, decision: str
) -> None:
    tokens = ["gh" + "p_" + body(36, seed=number) for number in range(count)]
    verdict = judged(use(words=tokens))
    assert verdict.decision == "block"
    told = list_blocking_fingerprints(verdict.findings)
    exempted = dict.fromkeys(told, Exempted(code="x", by="alice"))

    assert apply_exemptions(verdict, exempted).decision == decision
