"""manage.py agent_keys: the keys of an agent, listed and revoked."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from accounts.management.data_option import add_data_option
from accounts.management.named_rows import get_agent_named, render_agent
from accounts.management.secret_rows import (
    add_choice,
    choose_rows,
    render_revoked,
    render_rows,
)
from accounts.models import AgentKey
from common.commands import QuickCommand
from reviews.administration.agents.keys import revoke_keys


class Command(QuickCommand):
    help = "List or revoke the keys of an agent; `agent_key` makes new ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        for act, words in (
            ("list", "list its keys"),
            ("revoke", "end a key, or all of them"),
        ):
            one = acts.add_parser(act, help=words)
            one.add_argument("name")
            one.add_argument("--project", required=True, metavar="SLUG")
            add_data_option(one)
        add_choice(acts.choices["revoke"], "key")

    def handle(self, *args: Any, **options: Any) -> None:
        agent = get_agent_named(options["name"], options["project"])
        rows = AgentKey.objects.filter(agent=agent)
        if options["act"] == "list":
            self.stdout.write(render_agent(agent))
            self.stdout.write("\n".join(render_rows(rows, "key")))
            return
        chosen = choose_rows(rows.filter(revoked_at=None), options, "key")
        count = revoke_keys(agent=agent, by=None, keys=list(chosen))
        self.stdout.write(render_revoked(count, "key"))
