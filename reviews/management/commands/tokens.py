"""manage.py tokens: the personal tokens of somebody, listed, added, revoked."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from accounts.management.data_option import add_data_option
from accounts.management.named_rows import get_user_named
from accounts.management.secret_rows import (
    add_choice,
    choose_rows,
    render_revoked,
    render_rows,
)
from accounts.models import PersonalToken
from common.commands import QuickCommand
from reviews.administration.own.tokens import (
    issue_token_by_command,
    revoke_tokens_by_command,
)


class Command(QuickCommand):
    help = "List, add or revoke the personal tokens of somebody."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        for act, words in (
            ("list", "list their tokens"),
            ("add", "print a new token once"),
            ("revoke", "end a token, or all of them"),
        ):
            one = acts.add_parser(act, help=words)
            one.add_argument("name")
            add_data_option(one)
        add_choice(acts.choices["revoke"], "token")

    def handle(self, *args: Any, **options: Any) -> None:
        user = get_user_named(options["name"])
        rows = PersonalToken.objects.filter(user=user)
        match options["act"]:
            case "list":
                self.stdout.write("\n".join(render_rows(rows, "token")))
            case "add":
                self.stdout.write(f"Token {issue_token_by_command(user=user)}")
                self.stdout.write("Keep it now: it is not shown again.")
            case _:
                chosen = choose_rows(rows, options, "token")
                count = revoke_tokens_by_command(user=user, rows=chosen)
                self.stdout.write(render_revoked(count, "token"))
