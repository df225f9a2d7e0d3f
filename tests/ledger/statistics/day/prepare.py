"""Make a project with the demo's agents and two people; print its number and their keys.

Run it as `python prepare.py SLUG`.
"""

from __future__ import annotations

import json
import os
import sys

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

# These need the apps that the line above has loaded.
from accounts.models import Project, Role  # noqa: E402
from accounts.services import add_person, issue_agent_key  # noqa: E402
from demo.agents.profiles import PROFILES  # noqa: E402
from demo.policies import assign_demo_policies  # noqa: E402
from ledger.models import StatisticsCursor  # noqa: E402


def main(slug: str) -> None:
    keys = {
        profile.name: issue_agent_key(name=profile.name, project_slug=slug)[1]
        for profile in PROFILES
    }
    people = {}
    for name, role in (("alice", Role.MANAGER), ("bob", Role.REVIEWER)):
        added = add_person(name=f"{name}-{slug}", role=role, project_slug=slug)
        actor = f"user:{added.user.code}"
        people[added.user.username] = {"token": added.token, "actor": actor}
    project = Project.objects.get(slug=slug)
    assign_demo_policies(project)
    StatisticsCursor.objects.create(project=project)
    made = {"project": project.pk, "keys": keys, "people": people}
    sys.stdout.write(json.dumps(made))


if __name__ == "__main__":
    main(*sys.argv[1:])
