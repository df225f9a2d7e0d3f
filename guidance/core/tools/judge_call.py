"""A call before it runs: every gate is asked, every finding kept, the worst one wins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from guidance.core.runs.shared_limits import (
    NOTHING_SHARED,
    SharedUse,
    describe_all_reached,
)
from guidance.core.runs.usage import Budget, Usage
from guidance.core.secrets import SecretFinding, redact, redact_text
from guidance.core.shell_commands.own_server import USUAL_SERVER, OwnServer
from guidance.core.shell_commands.rules.rule import FAMILIES
from guidance.core.tools.calls import Call
from guidance.core.tools.evidence import CallEvidence, build_call_evidence
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.gates import ENFORCEMENT_GATES, INPUT_GATES, Gate
from guidance.core.tools.permission_shapes import is_permittable
from guidance.core.tools.secrets.findings import make_secret_findings
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import has_more_parts
from guidance.core.vocabulary import (
    CALL_WEIGHTS,
    choose_most_severe_call,
    get_call_severity,
)

# Stored with every decision. Any change of the gates or their rules that would judge a
# stored call differently takes the next number.
GATEWAY_VERSION = 13
# What looking for secrets may cost, see `secrets.effort`, and how much of that the
# reading of commands or the planning of edits takes away at most: all together take less
# than 100 ms.
SEARCH_LIMIT = 32_000
READING_COST = 24_000
PLANNING_COST = 24_000
# Values and keys of one call; more cannot be searched for secrets, so none are read.
PARTS_LIMIT = 16_000
# More findings than a person reads; the decision is made by all of them.
FINDINGS_LIMIT = 100
_QUOTES = ("text", "argument", "path", "target")
# Every name that we put around what a call says. A key below `arguments` is its own.
_EDIT = ("old", "new", "replace_all")
_OWN_KEYS = frozenset(
    {("tool",), ("shown",), ("shown", "tool"), ("preview",), ("preview", "diff")}
    | {("quotes",), ("quotes", "message"), ("quotes", "details")}
    | {("quotes", "details", name) for name in _QUOTES}
    | {("shown", name) for name in ("command", "arguments", "arguments_json")}
    | {("shown", name) for name in ("file_path", "content", "diff_lines", "edits")}
    | {("shown", "edits", name) for name in _EDIT}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallVerdict:
    """What the gates say, and the call as it may be kept and shown.

    `call` is the call that was judged, `shown` and `preview` are free of secrets;
    `redacted` says that something had to be taken out of them. `server` is the guard's
    own that it was judged with.
    """

    call: Call
    decision: str
    findings: tuple[CallFinding, ...]
    tool: str
    shown: Mapping[str, Any]
    preview: Mapping[str, Any] | None
    redacted: bool
    server: OwnServer

    @property
    def weight(self) -> float:
        """How much this call counts against the coherence of its step."""
        return sum(CALL_WEIGHTS[finding.decision] for finding in self.findings)

    def add_finding(self, finding: CallFinding | None) -> CallVerdict:
        """With what a run's budget says, after the input and before enforcement."""
        if finding is None:
            return self
        place = sum(found.gate in INPUT_GATES for found in self.findings)
        findings = (*self.findings[:place], finding, *self.findings[place:])
        decision = choose_most_severe_call([self.decision, finding.decision])
        return replace(self, findings=findings, decision=decision)

    def to_json(self) -> dict[str, Any]:
        return {
            "decision": self.decision,
            "findings": [finding.to_json() for finding in self.findings],
        }


def judge_call(
    *,
    rules: ToolRules,
    call: Call,
    fingerprint_key: bytes,
    server: OwnServer = USUAL_SERVER,
) -> CallVerdict:
    """Everything that can be said without a run; trouble in a gate holds the call.

    `server` is the guard's own, as it was reached when the call came.
    """
    findings: list[CallFinding] = []
    try:
        evidence = replace(build_call_evidence(call, rules), server=server)
    except Exception as error:  # trouble holds the call, whatever it is
        evidence = CallEvidence(call=call, arguments={}, server=server)
        findings.append(_make_failure("arguments", error))
    if has_more_parts(evidence.arguments, PARTS_LIMIT):
        return _hide(
            evidence,
            _TOO_MANY,
            tool=redact_text(call.tool, fingerprint_key=fingerprint_key).text,
        )
    findings += _ask_gates(INPUT_GATES, rules, evidence)
    findings += _ask_gates(ENFORCEMENT_GATES, rules, evidence)
    findings = [_add_permittable(finding, rules) for finding in findings]
    try:
        return _remove_secrets(rules, evidence, findings, fingerprint_key)
    except Exception as error:  # what cannot be cleaned is neither kept nor shown
        failure = replace(_make_failure("secrets", error), decision="block")
        return _hide(evidence, failure, tool="")


def _hide(evidence: CallEvidence, finding: CallFinding, *, tool: str) -> CallVerdict:
    """Blocked, with nothing of the call kept or shown."""
    return CallVerdict(
        call=evidence.call,
        decision=finding.decision,
        findings=(finding,),
        tool=tool,
        shown={},
        preview=None,
        redacted=True,
        server=evidence.server,
    )


def _add_permittable(finding: CallFinding, rules: ToolRules) -> CallFinding:
    """Where a person is asked: whether a standing permission may answer next time."""
    if finding.decision != "require-confirmation":
        return finding
    may = is_permittable([finding], always_ask=rules.always_ask)
    return replace(finding, details={**finding.details, "permittable": may})


def _limit_findings(findings: Sequence[CallFinding]) -> tuple[CallFinding, ...]:
    """The worst of them, so that the reason of the decision is there, in their order."""
    if len(findings) <= FINDINGS_LIMIT:
        return tuple(findings)
    places = range(len(findings))
    worst = sorted(
        places, key=lambda place: get_call_severity(findings[place].decision)
    )
    return tuple(findings[place] for place in sorted(worst[:FINDINGS_LIMIT]))


def _remove_secrets(
    rules: ToolRules,
    evidence: CallEvidence,
    findings: Sequence[CallFinding],
    key: bytes,
) -> CallVerdict:
    """With the secrets as findings, and nothing of them in what is kept of the call."""
    call, preview = evidence.call, evidence.preview
    verdict = CallVerdict(
        call=call,
        decision=choose_most_severe_call(finding.decision for finding in findings),
        findings=_limit_findings(findings),
        tool=call.tool,
        shown=call.to_fields(),
        preview=preview,
        redacted=False,
        server=evidence.server,
    )
    diff = preview["diff"] if preview else ""
    sent: dict[str, Any] = {"tool": verdict.tool, "shown": verdict.shown}
    if preview:
        sent["preview"] = {"diff": diff}
    if verdict.findings:
        # What the findings quote of the call is cleaned with it, and says nothing new.
        sent["quotes"] = [_get_quotes(finding) for finding in verdict.findings]
    reading = READING_COST * evidence.reading.share
    limit = SEARCH_LIMIT - int(reading + PLANNING_COST * evidence.planning)
    safe = redact(sent, fingerprint_key=key, own_keys=_OWN_KEYS, limit=limit)
    found = [secret for secret in safe.findings if not _is_quote(secret)]
    if not found:
        return verdict
    clean = _to_document(safe.value)
    commands = rules.shell.get_names(call.tool) | {"command"}
    secrets = list(make_secret_findings(call, found, diff, commands=commands))
    told = map(_replace_quotes, verdict.findings, clean.get("quotes", ()))
    return replace(
        verdict,
        decision=choose_most_severe_call(
            [verdict.decision, *(finding.decision for finding in secrets)]
        ),
        findings=_limit_findings([*told, *secrets]),
        tool=clean["tool"],
        shown=clean["shown"],
        preview=preview and {**preview, "diff": clean["preview"]["diff"]},
        redacted=True,
    )


def _is_quote(secret: SecretFinding) -> bool:
    return secret.path.startswith("/quotes/")


def check_call_budget(
    *,
    budget: Budget,
    used: Usage,
    reserved: int,
    running_ms: int | None = None,
    shared: SharedUse = NOTHING_SHARED,
) -> CallFinding | None:
    """Names every part of which nothing is left; `reserved` calls still wait, and
    `running_ms` is how long the run has been running by the server's clock."""
    below = shared.below
    parts = {
        "tokens": (budget.tokens, used.tokens + below.tokens),
        "tool_calls": (
            budget.tool_calls,
            used.tool_calls + reserved + below.tool_calls,
        ),
        "time_ms": (budget.time_ms, max(used.time_ms, running_ms or 0)),
        "cost_usd": (budget.cost_micros, used.cost_micros + below.cost_micros),
    }
    gone = [
        name
        for name, (limit, all_used) in parts.items()
        if _is_used_up(limit, all_used)
    ]
    if not gone:
        return None
    return CallFinding(
        gate="budget",
        decision="block",
        message=f"The run's budget is used up: {', '.join(gone)}",
        remediation="Finish the run, or ask a manager to reopen it with a new budget.",
        details={"used_up": gone, "reserved": reserved},
    )


def check_call_limits(shared: SharedUse) -> CallFinding | None:
    """Limits that the run shares with others: one finding names all that are reached."""
    if not shared.reached:
        return None
    return CallFinding(
        gate="limits",
        decision="block",
        message=describe_all_reached(shared.reached),
        remediation="Wait until it begins anew, or ask a manager to raise it.",
        details={"reached": [each.to_json() for each in shared.reached]},
    )


def _is_used_up(limit: int | None, used: int) -> bool:
    return limit is not None and used >= limit


def _ask_gates(
    gates: Mapping[str, Gate], rules: ToolRules, evidence: CallEvidence
) -> Iterable[CallFinding]:
    for name, gate in gates.items():
        try:
            found = list(gate(rules, evidence))
            for finding in found:
                get_call_severity(finding.decision)
        except Exception as error:  # trouble in a gate holds the call, whatever it is
            found = [_make_failure(name, error)]
        yield from found


def _make_failure(name: str, error: Exception) -> CallFinding:
    return CallFinding(
        gate=name,
        decision="require-confirmation",
        message=f"The {name} check could not be made ({type(error).__name__})",
        remediation="Read the call with care: this check says nothing about it.",
    )


_TOO_MANY = CallFinding(
    gate="arguments",
    decision="block",
    message=f"More than {PARTS_LIMIT:,} values and names in one call: none of them was read",
    remediation="Send less at once, or one long text in their place.",
)
_OWN_WORDS = frozenset((*FAMILIES, "diff_size", "multi_edit", "secrets"))


def _get_quotes(finding: CallFinding) -> dict[str, Any]:
    """The words of a finding that come from the call; all others are our own."""
    details = finding.details
    own_words = finding.gate in _OWN_WORDS and "target" not in details
    return {
        "message": None if own_words else finding.message,
        "details": {
            name: details[name]
            for name in _QUOTES
            if name in details and not _is_own_place(details[name])
        },
    }


def _is_own_place(quote: object) -> bool:
    """A pointer such as /command, in which nothing is the call's own word."""
    return isinstance(quote, str) and ("shown", quote[1:]) in _OWN_KEYS


def _replace_quotes(finding: CallFinding, clean: Mapping[str, Any]) -> CallFinding:
    details = {**finding.details, **clean["details"]}
    if "span" in details:
        # It counts in the text as it was sent, and that text is not kept.
        details["span"] = None
    return replace(
        finding, message=clean["message"] or finding.message, details=details
    )


def _to_document(value: object) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value
