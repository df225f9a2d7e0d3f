"""Which runs a policy is for: the whole list is replaced at once, as an act."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.utils import timezone

from accounts.auth import PersonPrincipal
from accounts.models import Project
from accounts.selectors import list_agents
from common.errors import Invalid, StaleVersion, Unchanged
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.policy.assignments import Assignment, RunFacts, find_assignment
from guidance.models import Policy, PolicyAssignment
from guidance.selectors import PolicyChoice, load_policy_choice
from guidance.services import DEFAULT, get_policy_in_force
from ledger.models import Run
from ledger.plan import Plan
from ledger.selectors import exclude_system_runs
from ledger.state import RunState
from ledger.writer import Change, ChangeRequest
from reviews.policies.chain import SYSTEM_ACTOR, perform, refuse_closed_run

LIMIT = 200
WEEK = timedelta(days=7)
# A preview looks at no more runs than this, the newest first.
PREVIEW_RUNS = 2_000
EXAMPLES = 5


@dataclass(kw_only=True)
class ReplaceAssignments(ChangeRequest[None]):
    """`assignments` or `agents_choose` is None where it is to stay as it is. With `seen`,
    the assignments have to be the ones that the person has changed."""

    person: PersonPrincipal | None
    assignments: Sequence[Assignment] | None
    agents_choose: bool | None
    seen: str | None = None
    choice: PolicyChoice = field(init=False)

    def load(self, run: RunState, at: datetime) -> None:
        self.choice = load_policy_choice(project_id=run.project_id)

    def decide(self, run: RunState, at: datetime) -> Change[None]:
        refuse_closed_run(run)
        before = self.choice
        if self.seen not in (None, hash_assignments(before.assignments)):
            raise StaleVersion("Somebody else has changed the assignments meanwhile.")
        wanted = before.assignments if self.assignments is None else self.assignments
        choose = self.agents_choose
        choose = before.agents_choose if choose is None else choose
        if (list(wanted), choose) == (list(before.assignments), before.agents_choose):
            raise Unchanged("All of this holds already: nothing would change.")
        plan = Plan(run, at)
        plan.add_entry(
            "policy.assigned",
            actor=self.person.actor if self.person else SYSTEM_ACTOR,
            payload={
                "assignments": [each.to_json() for each in wanted],
                "agents_choose": choose,
            },
        )
        plan.side_updates.append(partial(_store, run.project_id, wanted, choose))
        return plan.change(lambda _entries: None)


def _store(project_id: int, wanted: Sequence[Assignment], choose: bool) -> None:
    policies = Policy.objects.filter(project_id=project_id)
    ids = dict(policies.values_list("name", "pk"))
    PolicyAssignment.objects.filter(project_id=project_id).delete()
    PolicyAssignment.objects.bulk_create(
        PolicyAssignment(
            project_id=project_id,
            policy_id=ids[each.policy],
            position=position,
            **each.match.to_json(),
        )
        for position, each in enumerate(wanted)
    )
    Project.objects.filter(pk=project_id).update(agents_choose_policy=choose)


def replace_assignments(
    *,
    project_id: int,
    by: PersonPrincipal | None = None,
    assignments: Sequence[Assignment] | None = None,
    agents_choose: bool | None = None,
    seen: str | None = None,
) -> None:
    """Store them if anything changes. Raises Invalid with everything that is wrong."""
    refuse_wrong(project_id, assignments or ())
    try:
        perform(
            project_id,
            lambda run: ReplaceAssignments(
                run_code=run,
                person=by,
                assignments=assignments,
                agents_choose=agents_choose,
                seen=seen,
            ),
        )
    except Unchanged:
        return


def hash_assignments(assignments: Sequence[Assignment]) -> str:
    """Another one for every other list."""
    return hash_text(to_canonical_json([each.to_json() for each in assignments]))


def list_assignments(project_id: int) -> Sequence[Assignment]:
    return load_policy_choice(project_id=project_id).assignments


def refuse_wrong(project_id: int, assignments: Sequence[Assignment]) -> None:
    """Raise Invalid unless each names some runs, an agent that exists if it names one,
    and a policy that is in force."""
    get_policy_in_force(project_id=project_id, name=DEFAULT)  # made where it is missing
    known = load_policy_choice(project_id=project_id).active
    agents = set(list_agents(project_id=project_id).values_list("name", flat=True))
    errors: list[dict[str, Any]] = []

    def add(number: int, *keys: str, message: str) -> None:
        errors.append({"loc": [number, *keys], "message": message})

    if len(assignments) > LIMIT:
        errors.append({"loc": [], "message": f"at most {LIMIT} assignments"})
    for number, each in enumerate(assignments):
        match = each.match
        if not match.to_json():
            message = "name an agent, a label, an intent or a model"
            add(number, "match", message=message)
        if match.agent and match.agent not in agents:
            add(number, "match", "agent", message="no agent of this name")
        if match.label and ":" not in match.label.strip(":"):
            add(number, "match", "label", message="must be name:value")
        if each.policy not in known:
            message = f"no policy of this name is in force; one of: {', '.join(known)}"
            add(number, "policy", message=message)
    if errors:
        raise Invalid("The assignments cannot be taken.", errors=errors)


def preview_assignments(
    project_id: int, assignments: Sequence[Assignment]
) -> list[dict[str, Any]]:
    """Beside each assignment, which of the newest runs of the last week it would take."""
    taken, _ = list_taken_runs(project_id, assignments)
    return [
        {**each.to_json(), "last_week": week}
        for each, week in zip(assignments, taken, strict=True)
    ]


def list_taken_runs(
    project_id: int, assignments: Sequence[Assignment]
) -> tuple[list[dict[str, Any]], int]:
    """For each assignment the number of runs and a few of them; last, how many none
    takes."""
    runs = exclude_system_runs(
        Run.objects.filter(
            project_id=project_id, created_at__gte=timezone.now() - WEEK
        ).order_by("-pk")
    ).values_list("code", "task", "agent__name", "intent", "model", "labels")
    counts: Counter[int] = Counter()
    examples: dict[int, list[dict[str, str]]] = defaultdict(list)
    places = {id(each): place for place, each in enumerate(assignments)}
    for code, task, agent, intent, model, labels in runs[:PREVIEW_RUNS]:
        facts = RunFacts(agent=agent, intent=intent, model=model, labels=labels)
        taken = find_assignment(assignments, facts)
        place = -1 if taken is None else places[id(taken)]
        counts[place] += 1
        if len(examples[place]) < EXAMPLES:
            shown = {"id": str(code), "agent": agent, "task": task[:200]}
            examples[place].append(shown)
    weeks = [
        {"runs": counts[place], "examples": examples[place]}
        for place in range(len(assignments))
    ]
    return weeks, counts[-1]
