"""A call as a person changed it: judged by the same gates as the agent's own.

A person may let through what the gates only ask about, and never what they block. On a
screen they confirm what is still asked about, in exactly that text, before it is granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from pydantic import ValidationError

from common.errors import Invalid, PreconditionRequired
from guidance.core.canonical import hash_text, to_canonical_json
from guidance.core.tools.calls import (
    Call,
    CommandCall,
    EditCall,
    MultiEditCall,
    build_call,
    compute_call_digest,
)
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.judge_call import CallVerdict, judge_call
from guidance.own_server import get_own_server
from guidance.redactor import get_fingerprint_key
from guidance.selectors import get_policy
from reviews.models import Review
from reviews.schemas.calls import (
    CommandBody,
    EditBody,
    ToolBody,
    UnplannedEditsBody,
    build_patch_fields,
)

_BODIES: dict[str, type[CommandBody | ToolBody | EditBody | UnplannedEditsBody]] = {
    "command": CommandBody,
    "tool": ToolBody,
    "edit": EditBody,
    "multi_edit": UnplannedEditsBody,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Amendment:
    """`digest` names the call that a grant would be for."""

    verdict: CallVerdict
    digest: str

    @property
    def blocked(self) -> bool:
        """Also where it names a secret: what a person writes is stored as it stands."""
        return self.verdict.decision == "block" or self.verdict.redacted

    @property
    def asking(self) -> tuple[CallFinding, ...]:
        """What the gates would have asked about, had the agent sent it so."""
        return tuple(
            finding
            for finding in self.verdict.findings
            if finding.decision == "require-confirmation"
        )

    @property
    def confirmation(self) -> str:
        """Names this text with these findings; empty where nothing is to be confirmed."""
        if self.blocked or not self.asking:
            return ""
        findings = [finding.to_json() for finding in self.verdict.findings]
        return hash_text(to_canonical_json({"call": self.digest, "findings": findings}))


def judge_amendment(
    review: Review, content: dict[str, Any], amended: dict[str, Any]
) -> Amendment:
    """What the gates say of the call with its changed parts."""
    before = get_call(content)
    if before is None:
        raise Invalid(
            "A call with a hidden part cannot be amended: deny it, and say what to "
            "change."
        )
    verdict = judge_call(
        rules=get_policy(review.run.policy_id).policy.tools,
        call=_apply_changes(before, amended),
        fingerprint_key=get_fingerprint_key(),
        server=get_own_server(),
    )
    return Amendment(
        verdict=verdict,
        digest=compute_call_digest(verdict.call, run=str(review.run.code), key=None),
    )


def get_call(content: dict[str, Any]) -> Call | None:
    """The call that a review is about, as the agent sent it; None where some of it is
    hidden or was not kept."""
    if content["digest"].startswith("hmac-"):
        return None
    return build_call(
        kind=content["call_kind"], tool=content["tool"], shown=content["shown"]
    )


def refuse_blocked(amendment: Amendment) -> None:
    if amendment.blocked:
        raise Invalid(
            "The amended call is blocked by the gates: nothing was granted.",
            errors=_build_errors(
                finding
                for finding in amendment.verdict.findings
                if finding.decision == "block" or finding.gate == "secrets"
            ),
        )


def refuse_unconfirmed(amendment: Amendment, confirmed: str) -> None:
    """On a screen: typing is no confirmation of what nobody was shown."""
    if amendment.confirmation and amendment.confirmation != confirmed:
        raise PreconditionRequired(
            "The gates still ask about what you wrote: read what they say of it, and "
            "confirm it. Nothing was granted.",
            errors=_build_errors(amendment.asking),
        )


def _build_errors(findings: Iterable[CallFinding]) -> Sequence[dict[str, Any]]:
    return [
        {"loc": ["amended"], "message": f"{finding.gate}: {finding.message}"}
        for finding in findings
    ]


def _apply_changes(before: Call, amended: dict[str, Any]) -> Call:
    """The call with the changed parts, read as strictly as an agent's own."""
    if "tool" in amended:
        _refuse("tool", "the tool stays the same")
    if isinstance(before, MultiEditCall) and "file_path" in amended:
        _refuse("file_path", "the file stays the same")
    # The tool last: what a person saw is a call of this tool, whatever they make of it.
    fields = {**before.to_fields(), **amended, "tool": before.tool}
    if "content" in amended:
        fields["diff_lines"] = amended.get("diff_lines")
        if isinstance(before, EditCall) and before.tool == "apply_patch":
            fields |= build_patch_fields(amended["content"])
    if "command" in amended and "arguments" not in amended:
        fields["arguments"] = _set_command(before, amended["command"])
    try:
        after = _BODIES[before.kind].model_validate(fields).build_call()
    except ValidationError as error:
        raise Invalid(
            "The amended call is not acceptable.",
            errors=[
                {"loc": ["amended", *e["loc"]], "message": e["msg"]}
                for e in error.errors(include_input=False, include_url=False)
            ],
        ) from None
    if isinstance(before, MultiEditCall) and isinstance(after, MultiEditCall):
        _refuse_other_places(before, after)
    return after


def _refuse_other_places(before: MultiEditCall, after: MultiEditCall) -> None:
    """Where an edit applies was judged on a text that is not kept, so that stays; an edit
    may be left out."""
    asked = iter(before.edits)
    for number, edit in enumerate(after.edits):
        if not any(
            (each.old, each.replace_all) == (edit.old, edit.replace_all)
            for each in asked
        ):
            _refuse(
                f"edits.{number}.old",
                "what an edit looks for stays the same, in the same order: change what "
                "is put in its place, or leave the edit out",
            )


def _refuse(place: str, message: str) -> NoReturn:
    raise Invalid(
        f"amended.{place}: {message}.",
        errors=[{"loc": [f"amended.{place}"], "message": message}],
    )


def _set_command(before: Call, command: object) -> dict[str, Any] | None:
    """The tool may receive the command among its arguments: both are one text."""
    if not isinstance(before, CommandCall) or before.arguments is None:
        return None
    changed = {"command": command} if "command" in before.arguments else {}
    return {**before.arguments, **changed}
