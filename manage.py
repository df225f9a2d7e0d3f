#!/usr/bin/env python
"""Django's command line, for this project's settings."""

from __future__ import annotations

import os
import sys

from django.core.management import execute_from_command_line


def use_data_folder(arguments: list[str]) -> None:
    """`--data DIR` names the folder that the settings read from the environment."""
    for index, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        if name == "--data":
            following = arguments[index + 1 : index + 2]
            os.environ["CHECKRAIL_DATA"] = value or "".join(following)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    use_data_folder(sys.argv)
    execute_from_command_line(sys.argv)
