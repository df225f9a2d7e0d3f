"""manage.py gateway_report: which rules asked, how people answered, what a draft changes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.models import Project
from common.commands import QuickCommand
from guidance.core.policy.differences import list_differences
from guidance.core.policy.rule_drafts import build_warning_draft
from guidance.selectors import find_version_in_force
from guidance.services import DEFAULT, get_policy_in_force
from guidance.yaml_documents import write_yaml
from reviews.management.trials import judge_at_terminal
from reviews.policies.backtest.sentences import describe_result
from reviews.policies.backtest.services import Period, build_backtest
from reviews.policies.selectors import Document, read_document
from reviews.queue.rule_counts import REVIEWS_LIMIT, RuleCount, RuleCounts, count_rules

USUAL_DAYS = 30


class Command(QuickCommand):
    help = (
        "Lists the rules of the tool gateway by how often they asked a person, and how "
        "people answered. With --draft RULE prints the policy in which that rule warns "
        "instead, and what would have become of past calls under it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument(
            "--days", type=int, default=USUAL_DAYS, help="how far to look back (30)"
        )
        parser.add_argument("--draft", metavar="RULE")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        days = options["days"]
        if days < 1:
            raise CommandError("--days must be 1 or more.")
        if options["draft"]:
            report, lines = self._try_draft(project, options["draft"], days)
        else:
            counts = count_rules(project_id=project.pk, days=days, at=timezone.now())
            report = _build_report(project, counts, days)
            lines = _describe_counts(counts, days)
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(lines))

    def _try_draft(
        self, project: Project, rule: str, days: int
    ) -> tuple[dict[str, Any], list[str]]:
        """The policy in which the rule warns, and what it changes; nothing is stored."""
        get_policy_in_force(project_id=project.pk, name=DEFAULT)
        version = find_version_in_force(project_id=project.pk, name=DEFAULT)
        assert version is not None
        before = read_document(version)
        document = build_warning_draft(before, rule)
        if document is None or document == before:
            raise CommandError(
                f"{rule!r} is no rule of the policy that can be changed."
            )
        result = _judge(project, document, days)
        report = {
            "rule": rule,
            "policy": DEFAULT,
            "based_on": version.version,
            "document": document,
            "changes": [each.to_json() for each in list_differences(before, document)],
            "backtest": result,
        }
        lines = [
            f"# Policy {DEFAULT}, version {version.version}, with {rule}: warn",
            *(f"# {sentence}" for sentence in describe_result(result)),
            write_yaml(document),
        ]
        return report, lines


def _judge(project: Project, document: Document, days: int) -> dict[str, Any]:
    backtest = build_backtest(
        project=project,
        policy=DEFAULT,
        document=document,
        version=None,
        period=Period(since=timezone.now() - timedelta(days=days)),
    )
    return judge_at_terminal(backtest)


def _build_report(project: Project, counts: RuleCounts, days: int) -> dict[str, Any]:
    return {
        "project": project.slug,
        "days": days,
        "reviews": counts.reviews,
        "counted_all": counts.counted_all,
        "rules": [count.to_json() for count in counts.rules],
    }


def _describe_counts(counts: RuleCounts, days: int) -> list[str]:
    if not counts.rules:
        return [f"No call was put before a person in the last {days} days."]
    width = max(len(count.rule) for count in counts.rules)
    lines = [f"{count.rule:{width}}  {describe_count(count)}" for count in counts.rules]
    if not counts.counted_all:
        lines.append(f"Only the newest {REVIEWS_LIMIT:,} reviews are counted.")
    return lines


def describe_count(count: RuleCount) -> str:
    """Such as "asked 214 times, approved 213, denied 1"."""
    answers = ("approved", "amended", "denied", "aborted", "expired", "waiting")
    said = [
        f"{name} {getattr(count, name)}" for name in answers if getattr(count, name)
    ]
    return ", ".join(
        [f"asked {count.asked} {'time' if count.asked == 1 else 'times'}", *said]
    )
