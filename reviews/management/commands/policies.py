"""manage.py policies: a folder of policies compared with a project, or put in force."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from pydantic import TypeAdapter, ValidationError

from accounts.models import Project
from common.commands import QuickCommand
from common.errors import Unchanged
from guidance.core.policy.meaning import describe_difference, list_value_changes
from guidance.validation import Checked, check_yaml
from reviews.policies.acts import Outcome
from reviews.policies.assignments import replace_assignments
from reviews.policies.schemas import PolicyName
from reviews.policies.selectors import find_document_in_force
from reviews.policies.services import RESERVED, activate_version, create_version

CHANGED, INVALID = 1, 2


class Command(QuickCommand):
    help = (
        "Compare the NAME.yaml files of a folder with a project's policies (diff: exit 1 "
        "if anything differs, 2 if a file is invalid), put them in force (apply), or say "
        "whether agents may choose their policy (choose)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        acts = parser.add_subparsers(dest="act", required=True)
        diff = acts.add_parser("diff", help="say what applying the folder would change")
        apply = acts.add_parser("apply", help="store and activate what differs")
        for each in (diff, apply):
            each.add_argument("folder", metavar="DIR", type=Path)
        note = "Applied from a folder."
        apply.add_argument("--note", default=note, help="why, kept in the ledger")
        choose = acts.add_parser(
            "choose", help="let agents choose their policy, or not"
        )
        choose.add_argument("choose", choices=["yes", "no"])
        for each in (diff, apply, choose):
            each.add_argument("--project", metavar="SLUG", help="if there are several")

    def handle(self, *args: Any, **options: Any) -> None:
        project = _get_project(options["project"])
        if options["act"] == "choose":
            choose = options["choose"] == "yes"
            replace_assignments(project_id=project.pk, agents_choose=choose)
            told = "may choose" if choose else "do not choose"
            self.stdout.write(f"Agents of {project.slug} {told} their policy.")
            return
        documents = self._read_folder(options["folder"])
        changed = self._list_changed(project, documents)
        if options["act"] == "apply":
            for name in changed:
                outcome = _put_in_force(
                    project, name, documents[name], note=options["note"]
                )
                waits = outcome.review is not None
                told = "waits for a second manager" if waits else "in force"
                self.stdout.write(f"{name}: version {outcome.version.version} {told}")
        elif changed:
            sys.exit(CHANGED)

    def _read_folder(self, folder: Path) -> dict[str, Mapping[str, Any]]:
        """The documents by name; every fault of every file is told before it ends."""
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder.", returncode=INVALID)
        files = sorted(folder.glob("*.yaml")) + sorted(folder.glob("*.yml"))
        if not files:
            raise CommandError(f"{folder} has no NAME.yaml.", returncode=INVALID)
        documents: dict[str, Mapping[str, Any]] = {}
        faulty = False
        for path in files:
            for place, message in _list_faults(path, checked := _check(path)):
                faulty = True
                self.stderr.write(f"{path}{place}: {message}")
            if path.stem in documents:
                faulty = True
                self.stderr.write(f"{path}: there is another file of this name")
            documents[path.stem] = checked.document
        if faulty:
            sys.exit(INVALID)
        return documents

    def _list_changed(
        self, project: Project, documents: Mapping[str, Mapping[str, Any]]
    ) -> list[str]:
        """The policies that differ; says in words how."""
        changed = []
        for name, document in documents.items():
            before = find_document_in_force(project, name)
            for each in list_value_changes(before, document):
                if name not in changed:
                    changed.append(name)
                self.stdout.write(f"{name}: {describe_difference(each)}")
        if not changed:
            self.stdout.write("Nothing differs from what is in force.")
        return changed


def _get_project(slug: str | None) -> Project:
    projects = Project.objects.order_by("slug")
    found = list(projects.filter(slug=slug) if slug else projects[:2])
    if not found:
        raise CommandError("There is no such project.", returncode=INVALID)
    if len(found) > 1:
        raise CommandError("Say which --project is meant.", returncode=INVALID)
    return found[0]


def _check(path: Path) -> Checked:
    try:
        return check_yaml(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise CommandError(f"{path} is not UTF-8.", returncode=INVALID) from None


def _list_faults(path: Path, checked: Checked) -> list[tuple[str, str]]:
    """Place and message of each."""
    found = []
    for fault in checked.faults:
        line, column = fault.place or (1, 1)
        where = ".".join(map(str, fault.loc))
        told = f"{where}: {fault.message}" if where else fault.message
        found.append((f":{line}:{column}", told))
    try:
        TypeAdapter(PolicyName).validate_python(path.stem)
        usable = path.stem not in RESERVED
    except ValidationError:
        usable = False
    if not usable:
        found.append(("", "no policy can have this name"))
    return found


def _put_in_force(
    project: Project, name: str, document: Mapping[str, Any], *, note: str
) -> Outcome:
    """As a new version, or by the version that says the same already."""
    try:
        return create_version(
            project_id=project.pk,
            name=name,
            document=document,
            note=note,
            activate=True,
        )
    except Unchanged as unchanged:
        return activate_version(
            project_id=project.pk,
            name=name,
            number=unchanged.extra["version"],
            note=note,
        )
