"""manage.py backtest: what a draft of a policy would have decided."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.models import Project
from common.commands import QuickCommand
from common.errors import Invalid
from guidance.services import DEFAULT
from guidance.validation import Fault, check_yaml
from reviews.management.trials import judge_at_terminal
from reviews.policies.backtest.sentences import describe_result
from reviews.policies.backtest.services import Period, build_backtest


class Command(QuickCommand):
    help = (
        "Judge stored history again by a draft of a policy, and say what would have been "
        "decided otherwise. Nothing is stored."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="the draft, YAML or JSON")
        parser.add_argument("--since", type=parse_time, metavar="TIME", help="30 days")
        parser.add_argument("--until", type=parse_time, metavar="TIME", help="now")
        parser.add_argument("--agent", metavar="NAME", help="only runs of this agent")
        parser.add_argument("--run", metavar="ID", help="only this run")
        parser.add_argument(
            "--policy", metavar="NAME", help="only runs that were judged by this policy"
        )
        parser.add_argument("--project", metavar="SLUG", help="if there are several")
        parser.add_argument(
            "--limit", type=int, metavar="N", help="at most so many decisions"
        )
        parser.add_argument("--json", action="store_true", help="print it as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        document = self._read_document(Path(options["file"]))
        period = Period(
            **{name: options[name] for name in ("since", "until", "agent", "run")},
            all_runs=options["policy"] is None,
            limit=options["limit"],
        )
        try:
            backtest = build_backtest(
                project=_get_project(options["project"]),
                policy=options["policy"] or DEFAULT,
                document=document,
                version=None,
                period=period,
            )
        except Invalid as refused:
            raise CommandError(refused.detail) from None
        result = judge_at_terminal(backtest)
        if options["json"]:
            self.stdout.write(json.dumps(result, ensure_ascii=False, indent=2))
            return
        for sentence in describe_result(result):
            self.stdout.write(sentence)
        for line in render_tables(result):
            self.stdout.write(line)

    def _read_document(self, path: Path) -> Mapping[str, Any]:
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{path} cannot be read: {error}") from None
        checked = check_yaml(text)  # of which JSON is a part
        if checked.faults:
            lines = [_describe(path, fault) for fault in checked.faults]
            raise CommandError("\n".join(["The draft is no policy:", *lines]))
        return checked.document


def parse_time(text: str) -> datetime:
    """A day or a time; UTC where it does not say."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def render_tables(result: Mapping[str, Any]) -> Iterator[str]:
    moves = [(move, f"{count:,}") for move, count in result["moves"].items()]
    rules = [
        (
            each["gate"],
            each["rule"] or "",
            f"{each['softer']:,}",
            f"{each['stricter']:,}",
        )
        for each in result["by_rule"]
    ]
    if moves:
        yield ""
        yield from _render_table([("move", "decisions"), *moves])
        yield ""
        yield from _render_table([("gate", "rule", "softer", "stricter"), *rules])


def _render_table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def _get_project(slug: str | None) -> Project:
    projects = Project.objects.order_by("slug")
    if slug is not None:
        projects = projects.filter(slug=slug)
    found = list(projects[:2])
    if len(found) == 1:
        return found[0]
    if slug is not None or not found:
        raise CommandError("There is no such project.")
    raise CommandError("There are several projects: name one with --project.")


def _describe(path: Path, fault: Fault) -> str:
    line, column = fault.place or (1, 1)
    where = ".".join(map(str, fault.loc)) or "the document"
    return f"  {path.name}:{line}:{column}: {where}: {fault.message}"
