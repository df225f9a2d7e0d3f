"""manage.py up: from an empty folder to a working console, in one process."""

from __future__ import annotations

import os
import signal
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from accounts.models import Role, User
from accounts.services import NewPerson, ensure_project
from config.database.prepared import create_prepared_schema
from config.database.version import find_version_fault, has_every_migration
from config.embedded import (
    BackgroundEnded,
    Embedded,
    PortTaken,
    find_integrity_fault,
    write_checkpoint,
)
from demo.fleet import Fleet
from demo.history.make import WEEKS, is_without_past, make_past
from demo.keys import DEMO_PROJECT, ensure_demo_agents, issue_demo_keys
from demo.model import DemoModel
from demo.policies import assign_demo_policies
from ledger.run_list.indexing import index_words
from ledger.statistics.counting import count_project
from reviews.administration.people.adding import add_person

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


class Command(BaseCommand):
    help = "Prepare the database and serve the console, the API and background work."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.ENVIRONMENT.port)
        parser.add_argument("--no-demo", action="store_true", help="no demo agents")
        parser.add_argument(
            "--demo-weeks",
            type=int,
            default=WEEKS,
            choices=range(WEEKS + 1),
            metavar="N",
            help=f"how far back a new demo goes, 0 to {WEEKS} (default: %(default)s)",
        )
        parser.add_argument("--data", metavar="DIR", help="folder of the database")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"], options["port"]
        self._refuse(host)
        if settings.DATA_WAS_OPEN:
            self.stdout.write(
                f"{settings.ENVIRONMENT.data} was open to other users of this machine. "
                "It is private now."
            )
        # uvicorn hands a SIGTERM on when it is done: end like on Ctrl-C, tidily.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        fleet: Fleet | None = None
        model: DemoModel | None = None
        try:
            with Embedded(host=host, port=port) as embedded:
                self._prepare_database()
                project = "main" if options["no_demo"] else DEMO_PROJECT
                if not options["no_demo"]:
                    # Before any entry of today: the ledger of a project knows one order.
                    self._make_past(weeks=options["demo_weeks"])
                admin = self._add_first_admin(project)
                if not options["no_demo"]:
                    fleet = Fleet(issue_demo_keys(owner=admin.user if admin else None))
                    assign_demo_policies(ensure_project(slug=DEMO_PROJECT))
                    if settings.LLM is None:
                        model = DemoModel()
                        settings.LLM = model.start()
                embedded.serve(ready=lambda url: self._print_ready(url, admin, fleet))
        except (PortTaken, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from None
        except BackgroundEnded as error:
            # Whoever keeps the server up starts it again: this is no mistake of theirs.
            raise CommandError(str(error), returncode=os.EX_SOFTWARE) from None
        except KeyboardInterrupt:
            pass
        finally:
            if fleet is not None:
                fleet.stop()
            if model is not None:
                model.stop()
        self.stdout.write("Stopped.")

    def _refuse(self, host: str) -> None:
        if not settings.EMBEDDED:
            raise CommandError(
                "DATABASE_URL is set: run uvicorn, celery worker and celery beat "
                "instead (docker/README.md). `up` is one process on SQLite."
            )
        if host not in LOOPBACK and not (
            settings.ENVIRONMENT.hosts and settings.ENVIRONMENT.origins
        ):
            raise CommandError(
                f"To listen on {host}, say by which names people reach it: set "
                "CHECKRAIL_HOSTS and CHECKRAIL_ORIGINS."
            )

    def _prepare_database(self) -> None:
        fault = find_integrity_fault()
        if fault is not None:
            raise CommandError(
                f"The database file is damaged ({fault}). Restore a backup."
            )
        other_version = find_version_fault()
        if other_version is not None:
            raise CommandError(other_version)
        write_checkpoint()
        # `migrate` takes a while to find out that there is nothing to do.
        if not has_every_migration():
            self.stdout.write("Preparing the database …")
            if not create_prepared_schema():
                call_command("migrate", verbosity=0, interactive=False)

    def _add_first_admin(self, project: str) -> NewPerson | None:
        """The first person, when there is nobody yet who could sign in."""
        people = User.objects.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
        if people.exists():
            return None
        return add_person(name="admin", role=Role.ADMIN, project_slug=project)

    def _make_past(self, *, weeks: int) -> None:
        """A new demo has something behind it, so that every page has something to show."""
        project = ensure_project(slug=DEMO_PROJECT)
        if weeks and is_without_past(project):
            ensure_demo_agents(project)
            self.stdout.write("Making a past for the demo, this once …")
            self.stdout.flush()
            make_past(project, weeks=weeks)
            # Figures and searches need not wait for the next task that counts.
            count_project(project_id=project.pk)
            index_words()

    def _print_ready(
        self, url: str, admin: NewPerson | None, fleet: Fleet | None
    ) -> None:
        lines = [f"Checkrail is ready: {settings.PUBLIC_URL}"]
        if admin is not None:
            lines.append(
                f"Sign in as admin with the one-time password {admin.password}"
            )
        if fleet is not None:
            lines.append(
                f"{fleet.size} demo agents are at work in the project "
                f"{DEMO_PROJECT!r} (leave them out with --no-demo)."
            )
            fleet.start(url)
        lines.append("Stop with Ctrl-C.")
        self.stdout.write("\n".join(lines))
        self.stdout.flush()
