"""A logger made in another thread does not end pytest's walk over all of them."""

from __future__ import annotations

import logging


def test_a_logger_made_during_a_walk_does_not_end_it() -> None:
    name = f"{__name__}.made_during_a_walk"
    for _ in logging.root.manager.loggerDict.values():
        logging.getLogger(name)
    assert name in logging.root.manager.loggerDict
