"""manage.py migrate: Django's own, which waits for locks in a way of its own."""

from __future__ import annotations

from time import monotonic, sleep
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import OperationalError

from config.database.migrating import PAUSE_SECONDS, LockWatch, limit_waits

WAIT_SECONDS = 600


class Command(migrate.Command):
    """Each migration is a transaction: one that did not get its locks has done nothing, and
    is tried again after a pause in which everybody else works."""

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--wait",
            type=int,
            default=WAIT_SECONDS,
            metavar="S",
            help="seconds for which locks of others are waited for, %(default)s by default",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        ends = monotonic() + options.pop("wait", WAIT_SECONDS)
        with limit_waits(), LockWatch() as watch:
            while True:
                try:
                    super().handle(*args, **options)
                    return
                except OperationalError as error:
                    waited_for = watch.describe(error)
                    if waited_for is None:
                        raise
                if monotonic() + PAUSE_SECONDS > ends:
                    raise CommandError(
                        f"Given up waiting for {waited_for}. What was migrated before "
                        "stays; run migrate again to go on."
                    )
                self.stdout.write(f"Waiting for {waited_for} …")
                self.stdout.flush()
                sleep(PAUSE_SECONDS)
