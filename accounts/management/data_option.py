"""The option by which a command is told of the folder that `up --data` serves."""

from __future__ import annotations

from argparse import ArgumentParser


def add_data_option(parser: ArgumentParser) -> None:
    """Only told to the parser: `manage.py` has read it before the settings were."""
    parser.add_argument(
        "--data", metavar="DIR", help="folder of the database, as given to `up`"
    )
