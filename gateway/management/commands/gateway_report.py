"""manage.py gateway_report: which rules asked, how people answered, what a draft changes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from accounts.models import Project
from common.commands import QuickCommand
from reviews.rule_report.counts import REVIEWS_LIMIT, RuleCount, RuleCounts, count_rules
from reviews.rule_report.drafts import RuleDraft, build_rule_draft, render_policy

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
        if options["days"] < 1:
            raise CommandError("--days must be 1 or more.")
        days, at = options["days"], timezone.now()
        if options["draft"]:
            draft = build_rule_draft(
                project_id=project.pk, rule=options["draft"], days=days, at=at
            )
            if draft is None:
                raise CommandError(
                    f"{options['draft']!r} is no rule of the policy that can be changed."
                )
            told = draft.to_json() if options["json"] else None
            lines = _describe_draft(draft)
        else:
            counts = count_rules(project_id=project.pk, days=days, at=at)
            told = _build_report(project, counts, days)
            lines = _describe_counts(counts, days)
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(lines))


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
    told = [
        f"{name} {getattr(count, name)}" for name in answers if getattr(count, name)
    ]
    return ", ".join(
        [f"asked {count.asked} {'time' if count.asked == 1 else 'times'}", *told]
    )


def _describe_draft(draft: RuleDraft) -> list[str]:
    return [
        f"# Policy {draft.policy}, version {draft.based_on}, with {draft.rule}: warn",
        f"# {draft.describe()}",
        render_policy(draft.document),
    ]
