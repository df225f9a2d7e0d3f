"""The tools as agents see them: what each is for, what it takes, what it answers."""

from __future__ import annotations

from typing import Any, get_args

from mcp.types import Tool, ToolAnnotations

from checkrail.intents import Intent

INSTRUCTIONS = """\
Checkrail decides whether you may go on, and asks people where it matters.

1. Call start_run once with your task, in a sentence that a reviewer understands.
2. Before every command, tool use or edit that changes something: check_tool_call. Run it \
only if may_run is true, and only with the arguments in the answer.
3. After every turn of work: report_step. Do what instruction says.
4. Where only a person can say yes: request_approval, then wait_for_decision.
5. At the end: finish_run.

No answer, an error, or a wait that ran out is never an approval."""

_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}


def _make_nullable(schema: dict[str, Any]) -> dict[str, Any]:
    return {**schema, "type": [schema["type"], "null"]}


def _describe(schema: dict[str, Any], description: str, **more: Any) -> dict[str, Any]:
    return {**schema, "description": description, **more}


def _build_object_schema(
    *, required: tuple[str, ...] = (), **properties: Any
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _answer(**properties: Any) -> dict[str, Any]:
    """Every field of an answer is always there."""
    return _build_object_schema(required=tuple(properties), **properties)


def _build_tool(
    name: str,
    title: str,
    description: str,
    takes: dict[str, Any],
    gives: dict[str, Any],
) -> Tool:
    return Tool(
        name=name,
        title=title,
        description=description,
        input_schema=takes,
        output_schema=gives,
        annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
    )


_INSTRUCTION = _describe(_TEXT, "What to do now.")
_FINDING = _answer(
    gate=_TEXT, decision=_TEXT, message=_TEXT, remediation=_make_nullable(_TEXT)
)
_FINDINGS = {
    "type": "array",
    "items": _FINDING,
    "description": "Every gate that has something to say, and what to do instead.",
}
_NOTES = {
    "type": "array",
    "items": _answer(
        by=_TEXT, text=_TEXT, at=_TEXT, tags={"type": "array", "items": _TEXT}
    ),
    "description": "What people wrote to you about your task, each once: read it, and "
    "take it into account.",
}
_ID = _describe(_TEXT, "The id from report_step, check_tool_call or request_approval.")
_ARGUMENTS = {"type": "object", "description": "Exactly what may run."}
_RUN = _answer(run=_TEXT, status=_TEXT, url=_TEXT, instruction=_INSTRUCTION)

START_RUN = _build_tool(
    "start_run",
    "Start a run",
    "Say what you are about to work on. Call it once, first. Without it, a run is "
    "started by the first other call, under a name that tells reviewers little.",
    _build_object_schema(
        required=("task",),
        task=_describe(
            _TEXT, "The task, in words a reviewer understands.", minLength=1
        ),
        intent=_describe(
            _TEXT,
            "What kind of work it is.",
            enum=list(get_args(Intent)),
        ),
        model=_describe(_TEXT, "The name of the model you are."),
    ),
    _RUN,
)

FINISH_RUN = _build_tool(
    "finish_run",
    "Finish the run",
    "Say that the task is done, or that it failed. Nothing can be reported afterwards.",
    _build_object_schema(
        required=("outcome",),
        outcome=_describe(_TEXT, "How it ended.", enum=["completed", "failed"]),
        summary=_describe(_TEXT, "What was done, in a few sentences."),
    ),
    _RUN,
)

REPORT_STEP = _build_tool(
    "report_step",
    "Report a step",
    "Report one turn of your work, after it. The answer says whether you may go on: if "
    "may_continue is false, do nothing more but what instruction says.",
    _build_object_schema(
        summary=_describe(_TEXT, "What you did in this turn, in a sentence."),
        tokens=_describe(_COUNT, "Tokens this turn took; 0 if you do not know."),
        tool_calls=_describe(_COUNT, "Tool calls in this turn."),
        failed_calls=_describe(_COUNT, "How many of them failed."),
        duration_ms=_describe(_COUNT, "How long the turn took."),
        rework=_describe(_FLAG, "You did something over again that was done before."),
        checkpoint=_describe(_FLAG, "Your work is saved (a commit, a note) as of now."),
        uncertainty={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "How unsure you are that you are on the right way, 0 to 1.",
        },
        signature=_describe(
            _TEXT, "The same text for the same action, to notice repetition."
        ),
    ),
    _answer(
        step=_COUNT,
        decision=_describe(
            _TEXT,
            "What the gates say.",
            enum=["continue", "checkpoint", "throttle", "pause", "stop"],
        ),
        may_continue=_describe(_FLAG, "Whether you may go on with your work."),
        instruction=_INSTRUCTION,
        id=_describe(_make_nullable(_TEXT), "What to wait for with wait_for_decision."),
        delay_ms=_describe(_COUNT, "How long to wait before the next step."),
        findings=_FINDINGS,
        notes=_NOTES,
    ),
)

CHECK_TOOL_CALL = _build_tool(
    "check_tool_call",
    "Check a tool call",
    "Ask before you run a command, use a tool or change a file. If may_run is true, run "
    "it at once, once, with exactly the arguments in the answer. If it is false, do not "
    "run it: instruction says whether a person can still allow it.",
    _build_object_schema(
        required=("tool", "arguments"),
        tool=_describe(_TEXT, "The tool's name, such as Bash or Edit.", minLength=1),
        arguments={
            "type": "object",
            "description": "The arguments as you will pass them, all of them; for a "
            'command {"command": "rm -rf build"}.',
        },
    ),
    _answer(
        id=_describe(_TEXT, "The id of this call, for wait_for_decision."),
        decision=_describe(
            _TEXT,
            "What the gates say.",
            enum=["allow", "warn", "require-confirmation", "block"],
        ),
        may_run=_describe(_FLAG, "Whether it may run now, once."),
        arguments=_make_nullable(_ARGUMENTS),
        instruction=_INSTRUCTION,
        findings=_FINDINGS,
        output={"description": "The result, where it is known and nothing has to run."},
        notes=_NOTES,
    ),
)

REQUEST_APPROVAL = _build_tool(
    "request_approval",
    "Request an approval",
    "Ask a person for a yes or a no, in your own words. Answers at once with an id: ask "
    "wait_for_decision for what the person says. Until then nothing is approved.",
    _build_object_schema(
        required=("title",),
        title=_describe(_TEXT, "What you want to do.", minLength=1, maxLength=300),
        detail=_describe(_TEXT, "All that a person needs to decide.", maxLength=20_000),
    ),
    _answer(
        id=_describe(_TEXT, "For wait_for_decision."),
        approved=_describe(_FLAG, "Always false: nobody has decided yet."),
        url=_describe(_TEXT, "Where a person decides."),
        instruction=_INSTRUCTION,
    ),
)

_DECISION = _answer(
    id=_TEXT,
    state=_describe(
        _TEXT,
        "open: nobody has decided yet, which is not an approval.",
        enum=["open", "ruled", "expired", "superseded", "withdrawn", "closed"],
    ),
    approved=_describe(_FLAG, "True only if a person said yes."),
    action=_describe(
        _make_nullable(_TEXT), "What the person chose: approve, amend, deny …"
    ),
    arguments=_make_nullable(_ARGUMENTS),
    answer=_describe(_make_nullable(_TEXT), "The person's answer to a question."),
    note=_describe(_TEXT, "What the person says beside it."),
    by=_describe(_make_nullable(_TEXT), "Who decided."),
    instruction=_INSTRUCTION,
    notes=_NOTES,
)

# Below the minute after which clients commonly give up on a call.
DEFAULT_TIMEOUT = 45

WAIT_FOR_DECISION = _build_tool(
    "wait_for_decision",
    "Wait for a decision",
    "Wait until a person has decided, at most timeout_s seconds. If the time runs out, "
    "state is open and approved is false: that is NOT an approval. Call it again.",
    _build_object_schema(
        required=("id",),
        id=_ID,
        timeout_s={
            "type": "integer",
            "minimum": 1,
            "maximum": 3600,
            "default": DEFAULT_TIMEOUT,
            "description": "How long to wait. Keep it below your own tool timeout.",
        },
    ),
    _DECISION,
)

GET_DECISION = _build_tool(
    "get_decision",
    "Get a decision",
    "See whether a person has decided, without waiting.",
    _build_object_schema(required=("id",), id=_ID),
    _DECISION,
)

# A run that somebody else has started is also ended by them.
IN_ANY_RUN = [
    REPORT_STEP,
    CHECK_TOOL_CALL,
    REQUEST_APPROVAL,
    WAIT_FOR_DECISION,
    GET_DECISION,
]
WITH_OWN_RUN = [START_RUN, *IN_ANY_RUN, FINISH_RUN]
