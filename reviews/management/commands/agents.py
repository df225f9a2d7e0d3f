"""manage.py agents: the agents of a project, and who answers for each."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from accounts.management.data_option import add_data_option
from accounts.management.named_rows import (
    get_agent_named,
    get_project_named,
    get_user_named,
    render_agent,
)
from accounts.selectors import list_agents
from common.commands import QuickCommand
from common.errors import Invalid
from reviews.administration.agents.services import change_agent


class Command(QuickCommand):
    help = "List the agents of a project, or say who answers for one of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        listing = acts.add_parser("list", help="list them with their owners")
        owner = acts.add_parser("owner", help="name the person who answers for one")
        owner.add_argument("name")
        who = owner.add_mutually_exclusive_group(required=True)
        who.add_argument("--to", metavar="PERSON", help="a member of the project")
        who.add_argument("--nobody", action="store_true", help="no owner any more")
        for act in (listing, owner):
            act.add_argument("--project", required=True, metavar="SLUG")
            add_data_option(act)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["act"] == "list":
            self._list(options["project"])
            return
        agent = get_agent_named(options["name"], options["project"])
        owner = None if options["nobody"] else get_user_named(options["to"])
        try:
            name = owner.username if owner else None
            change_agent(agent=agent, by=None, wanted={"owner": name})
            agent.owner = owner
        except Invalid as refusal:
            raise CommandError(refusal.detail) from None
        self.stdout.write(render_agent(agent))

    def _list(self, slug: str) -> None:
        agents = list_agents(project_id=get_project_named(slug).pk)
        for agent in agents:
            self.stdout.write(render_agent(agent))
        if not agents:
            self.stdout.write("There is no agent.")
