"""Which projects a command looks at: one by its slug, or all of them."""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import CommandError

from accounts.models import Project


def add_project_option(parser: ArgumentParser) -> None:
    parser.add_argument("--project", metavar="SLUG", help="only this project")


def list_selected_projects(slug: str | None) -> list[Project]:
    """Those that have a ledger."""
    projects = Project.objects.filter(head__isnull=False).order_by("pk")
    if slug is None:
        return list(projects)
    if not Project.objects.filter(slug=slug).exists():
        raise CommandError(f"There is no project {slug}.")
    return list(projects.filter(slug=slug))
