"""What is wrong with a document, by the path of each fault."""

from __future__ import annotations

import pytest

from guidance.core.policy import (
    PolicyError,
    load_policy,
)


def problems(document: object) -> dict[str, str]:
    with pytest.raises(PolicyError) as caught:
        load_policy(document)  # type: ignore[arg-type]
    return dict(caught.value.errors)
