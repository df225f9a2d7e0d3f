"""manage.py agent_key: a key for an agent, shown once."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.management.data_option import add_data_option
from accounts.management.named_rows import check_names, get_user_named
from common.commands import QuickCommand
from common.errors import Invalid
from reviews.administration.agents.keys import issue_key


class Command(QuickCommand):
    help = "Make an agent (and its project) if absent, and print a new key for it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--owner", metavar="PERSON", help="who answers for it (default: unchanged)"
        )
        parser.add_argument("--json", action="store_true", help="one line of JSON")
        add_data_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        name, project = options["name"], options["project"]
        check_names(name, project)
        try:
            key, secret = issue_key(
                name=name,
                project_slug=project,
                owner=get_user_named(options["owner"]) if options["owner"] else None,
            )
        except Invalid as refusal:
            raise CommandError(refusal.detail) from None
        if options["json"]:
            line = {"project": project, "agent": name, "key": secret}
            self.stdout.write(json.dumps(line))
            return
        self.stdout.write(f"Agent {name} in project {project}")
        if key.agent.owner is not None:
            self.stdout.write(f"Owner {key.agent.owner}")
        self.stdout.write(f"Key   {secret}")
        self.stdout.write("Keep it now: it is not shown again.")
