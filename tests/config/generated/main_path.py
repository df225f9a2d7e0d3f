"""The main path with a client that was made from the document alone.

python main_path.py URL KEY TOKEN, where the package `client_made` can be imported.
"""

from __future__ import annotations

import json
import sys
import threading

from client_made import AuthenticatedClient
from client_made.api.reviews import get_review, rule_review
from client_made.api.runs import finish_run, start_run
from client_made.api.steps import report_step
from client_made.api.tool_calls import (
    claim_tool_call,
    judge_tool_call,
    settle_tool_call,
)
from client_made.api.waiting import wait_for_decision
from client_made.models import (
    ClaimIn,
    CommandCallIn,
    FinishIn,
    FinishInOutcome,
    Problem,
    ResultIn,
    RulingIn,
    RulingInAction,
    RunIn,
    StepIn,
)


def main(url, key, token):
    def client(secret):
        return AuthenticatedClient(
            base_url=url, token=secret, raise_on_unexpected_status=True
        )

    agent, person = client(key), client(token)

    def approve(review, note=""):
        seen = need(get_review.sync(review, client=person))
        body = RulingIn(
            action=RulingInAction.APPROVE,
            version=seen.version,
            content_digest=seen.content_digest,
            note=note,
        )
        need(rule_review.sync(review, client=person, body=body))

    run = need(start_run.sync(client=agent, body=RunIn(task="Fix the test")))
    assert run.budget.tokens.limit is not None, "The budget was lifted."
    for number in range(1, 20):
        body = StepIn(number=number, tokens=100, tool_calls=1, rework=True)
        decision = need(
            report_step.sync(
                run.id, client=agent, body=body, idempotency_key=f"{run.id}-{number}"
            )
        )
        if decision.decision == "pause":
            break
    review = decision.review.id

    refused = report_step.sync(
        run.id, client=agent, body=StepIn(number=20, tokens=1, tool_calls=0)
    )
    assert isinstance(refused, Problem)
    assert (refused.type_, refused.review.id) == ("/problems/run-paused", review)

    thread = threading.Thread(target=approve, args=(review, "Start with the fixtures."))
    thread.start()
    ruled = need(wait_for_decision.sync(run.id, client=agent, wait=20, review=review))
    thread.join()

    asked = need(
        judge_tool_call.sync(
            run.id,
            client=agent,
            body=CommandCallIn(kind="command", command="rm -rf build"),
        )
    )
    assert asked.decision == "require-confirmation", asked
    approve(asked.review.id)
    claimed = need(
        claim_tool_call.sync(
            run.id, asked.id, client=agent, body=ClaimIn(digest=asked.digest)
        )
    )
    settled = need(
        settle_tool_call.sync(
            run.id,
            asked.id,
            client=agent,
            body=ResultIn(ok=True, output="removed", duration_ms=12),
        )
    )
    finished = need(
        finish_run.sync(
            run.id, client=agent, body=FinishIn(outcome=FinishInOutcome.COMPLETED)
        )
    )
    return {
        "run": str(run.id),
        "note": ruled.ruling.note,
        "ran": claimed.call["command"],
        "settled": settled.ok,
        "status": finished.status,
        "evaluations": [each.name for each in finished.evaluations],
    }


def need(answer):
    assert answer is not None
    assert not isinstance(answer, Problem), answer
    return answer


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(*sys.argv[1:])))
