"""Play the day in this process and write its files: python -m tests.golden.play FOLDER.

It is started by `tests.golden.recording` with an environment of its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.golden.chance import hold_chance, hold_product_chance


def main(folder: Path, entry_format: int) -> None:
    hold_chance()
    from tests.golden.clock import Clock, hold_database_clock

    clock = Clock()
    import django

    django.setup()
    hold_product_chance()
    hold_database_clock()
    from tests.golden.performance import perform

    perform(folder, clock, entry_format=entry_format)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
