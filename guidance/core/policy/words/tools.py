"""Words for how tool calls are judged."""

from __future__ import annotations

from guidance.core.policy.words.entry import Words

TOOLS = {
    "tools": Words("Tool calls", "How calls are judged before they run."),
    "tools.allowlist": Words("Allowlist", "The only tools that may be called."),
    "tools.allowlist.enabled": Words(
        "In use", "Off: every tool may be called. On and empty: none may."
    ),
    "tools.allowlist.tools": Words(
        "Tools", "By name, or its beginning and a star: mcp__git__*."
    ),
    "tools.patterns": Words("Own rules", "Texts that calls are searched for."),
    "tools.patterns.*.name": Words("Name", "No built-in rule may have it."),
    "tools.patterns.*.pattern": Words("Pattern", "A regular expression (RE2)."),
    "tools.patterns.*.decision": Words("Decision", "What a call with it leads to."),
    "tools.patterns.*.message": Words("Message", "What the agent and people read."),
    "tools.max_diff_lines": Words("Large edits", "Edits with more are noted.", "lines"),
    "tools.lenient_arguments": Words(
        "Repaired arguments",
        "Tools whose arguments may be repaired where they are not quite JSON.",
    ),
    "tools.idempotent": Words(
        "Answered again", "Tools whose stored result may answer the same call again."
    ),
    "tools.shell_arguments": Words(
        "Shell arguments", "Texts that are read as a shell does: tool.argument."
    ),
    "tools.sql_arguments": Words(
        "SQL arguments", "Texts that are read as a database does: tool.argument."
    ),
    "tools.schemas": Words(
        "Argument schemas", "JSON Schema 2020-12 of arguments, by the tool's name."
    ),
    "tools.always_ask": Words(
        "Asked every time", "Rules that no standing permission covers."
    ),
    "tools.rules": Words(
        "Rules",
        "What a rule leads to where that is not as built in, by its name, or its "
        "beginning and a star: git-*.",
    ),
    "tools.disposable": Words(
        "Folders made again", "Deleting folders of these names is not asked about."
    ),
    "tools.confirm": Words("Always a person", "Tools that always need a person."),
    "tools.grant_expires_s": Words(
        "A grant holds", "An allowed call has to begin within so long.", "s"
    ),
    "tools.first_look": Words(
        "A model looks first",
        "Before a person is asked about a call, the server's model may settle it.",
    ),
    "tools.first_look.enabled": Words(
        "In use", "Off: every such call goes to a person."
    ),
    "tools.first_look.rules": Words(
        "Rules left to it",
        "Rules that ask and that it may answer, by name, or its beginning and a star: "
        "git-*. Never what is critical, asked every time, of your own making, or takes "
        "two people.",
    ),
    "tools.first_look.may": Words(
        "What it may settle", "What else it says is told to the person who decides."
    ),
    "tools.first_look.blind_share": Words(
        "Checked by people",
        "So much of what it looks at goes to a person all the same, who is not told "
        "what it said.",
        "share",
    ),
    "tools.first_look.timeout_s": Words(
        "It answers within", "After that a person is asked.", "s"
    ),
    "tools.first_look.max_asked_per_day": Words(
        "Questions a day",
        "Of the whole project, from midnight UTC; null is no limit.",
        "questions",
    ),
    "tools.first_look.max_cost_usd_per_day": Words(
        "Cost a day",
        "Of the whole project, from midnight UTC; null is no limit. Where no prices are "
        "set up for the model, it is not asked.",
        "USD",
    ),
}
