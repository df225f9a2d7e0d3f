"""manage.py user_add: a person with a role, password and token shown once."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from accounts.management.data_option import add_data_option
from accounts.management.named_rows import check_names
from accounts.models import Role
from common.commands import QuickCommand
from reviews.administration.people.adding import add_person


class Command(QuickCommand):
    help = (
        "Make a person (and the project) if absent, give them the role, and print a "
        "new one-time password and personal token once. What they had before ends."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--role", required=True, choices=Role.values)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--json", action="store_true", help="one line of JSON")
        add_data_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        name, project = options["name"], options["project"]
        check_names(name, project)
        try:
            UnicodeUsernameValidator()(name)
        except ValidationError:
            raise CommandError(
                "NAME takes letters, digits and @ . + - _ only."
            ) from None
        added = add_person(name=name, role=Role(options["role"]), project_slug=project)
        if options["json"]:
            line = {
                "user": name,
                "role": options["role"],
                "project": project,
                "password": added.password,
                "token": added.token,
            }
            self.stdout.write(json.dumps(line))
            return
        self.stdout.write(f"Person   {name}, {options['role']} of {project}")
        self.stdout.write(f"Password {added.password} (to be changed at first sign-in)")
        self.stdout.write(f"Token    {added.token}")
        self.stdout.write("Keep them now: they are not shown again.")
