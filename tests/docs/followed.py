"""What is followed through the code: one that exists of each thing that may be added."""

from __future__ import annotations

import re
from typing import NamedTuple

from guidance.core.shell_commands.rules import RULES
from reviews.models import Kind

KINDS = "|".join(Kind.values)
RULE_NAMES = "|".join(map(re.escape, RULES))


class Followed(NamedTuple):
    """`titles` of the lists, the pattern to follow, and who only uses what is found."""

    titles: tuple[str, ...]
    pattern: str
    users: tuple[str, ...] = ()


FOLLOWED = {
    "uncertainty": Followed(
        ("A gate of a step",),
        r'"uncertainty"|\buncertainty[=:]',
        # What the word means, and words that most steps have.
        ("console/introduction/terms.py", "ledger/models/packing.py"),
    ),
    "diff_size": Followed(("A gate of a call",), r'"diff_size"'),
    "confirm": Followed(
        ("A gate of a call",), r'\bgate\W{1,6}"confirm"|"confirm": (?:"|check_)'
    ),
    "cascade": Followed(("A rail of the loop",), r'"cascade"'),
    "rules": Followed(
        ("A rule for tool calls",),
        rf"""["'\s](?:{RULE_NAMES})["'\s]""",
        (
            # What cannot be read, or has no name of its own.
            "guidance/core/shell_commands/judge_command.py",
            "guidance/core/shell_commands/judging/program.py",
            "guidance/core/shell_commands/report.py",
            "guidance/core/shell_commands/script_state.py",
            "guidance/core/shell_commands/unclear_names.py",
            "guidance/core/shell_commands/walk.py",
            "guidance/core/tools/destructive.py",
            # An example beside a field.
            "templates/console/policies/_fields.html",
        ),
    ),
    "remote-execution": Followed(("A rule for tool calls",), r'"remote-execution"'),
    "step.observed": Followed(("A ledger entry type",), r'"step\.observed"'),
    "loop.alerted": Followed(
        ("A ledger entry type",), r'"loop\.alerted"', ("loop/inbox/incidents.py",)
    ),
    "run.abandoned": Followed(
        ("A ledger entry type",), r'"run\.abandoned"', ("reviews/rulings/expiry.py",)
    ),
    "review.expired": Followed(
        ("A ledger entry type",), r'"review\.expired"', ("reviews/rulings/expiry.py",)
    ),
    # What every type of a prefix is part of.
    "review.*": Followed(
        ("A ledger entry type",), r'type\w*(?:=|\.startswith\()"\w+\."'
    ),
    "agent_keys": Followed(("A command of manage.py",), r"\bagent_keys\b"),
    "CHECKRAIL_KEY_RATE": Followed(
        ("A server setting",), r"(?i)\bkey_rate|KEY_RATE", ("config/fastpath/guard.py",)
    ),
    "CHECKRAIL_WEBHOOK_ALLOW": Followed(
        ("A server setting",), r"(?i)\bwebhook_allow\b", ("webhooks/targets.py",)
    ),
    "continue.max_uncertainty": Followed(
        ("A policy setting",),
        r"\bmax_uncertainty\b",
        (
            "guidance/core/steps/gates/repetition.py",
            "console/queue/kinds/pause.py",
            "console/runs/curves/scores.py",
        ),
    ),
    "caps.open_runs": Followed(
        ("A policy setting",), r"\bopen_runs\b", ("reviews/caps.py",)
    ),
    "tools.max_diff_lines": Followed(
        ("A policy setting",), r"\bmax_diff_lines\b", ("guidance/core/tools/gates.py",)
    ),
    "turns.warn_from": Followed(
        ("A policy setting",), r"\bwarn_from\b", ("guidance/core/turns/judge_turn.py",)
    ),
    "loop.cascade_limit": Followed(
        ("A policy setting",),
        r"\bcascade_limit\b",
        ("guidance/core/loop/guardrails.py",),
    ),
    "loop.learn.gate_skipped": Followed(
        ("A policy setting",), r"\bgate_skipped\b", ("guidance/core/lessons.py",)
    ),
    "gates.*.retry.improvement_hints": Followed(
        ("A policy setting",), r"\bimprovement_hints\b"
    ),
    # Wherever one kind is told from the others.
    "kinds": Followed(
        ("A review kind",),
        r"\bKind\.[A-Z]|(?i:kinds?)\b\W*(?:(?:not )?in |frozenset|Literal)?\W*"
        rf'"(?:{KINDS})"',
        (
            # What is only about calls to confirm, or only about checks.
            "gateway/coding_agents/superseded.py",
            "gateway/use_cases/asking/first_look.py",
            "reviews/queue/rule_counts.py",
            "reviews/rulings/approvals.py",
            "reviews/rulings/gate_choices.py",
            "reviews/rulings/reading_proof.py",
            # Words that steps have.
            "ledger/models/packing.py",
            # Where actions of the loop are opened and ended.
            "loop/apps.py",
            "loop/cycle/record.py",
            # Where the others are opened, also by the fake server, and an example.
            "client/checkrail/flows/calls.py",
            "client/checkrail/testing/call_routes.py",
            "client/checkrail/testing/check_routes.py",
            "config/openapi/examples.py",
            "gateway/use_cases/call_requests.py",
            "gateway/use_cases/checks/requests.py",
            "gateway/use_cases/checks/submitting.py",
            "gateway/use_cases/steps.py",
            "gateway/use_cases/turns.py",
        ),
    ),
    "skip": Followed(
        ("A review kind", "A new ruling"),
        r'"skip"[,:})]',
        (
            # What choices on a check do.
            "client/checkrail/flows/gate_checks.py",
            "client/checkrail/testing/check_routes.py",
            "guidance/core/checks/attempts.py",
            "reviews/rulings/gate_choices.py",
            # An icon.
            "console/runs/checks.py",
        ),
    ),
}
