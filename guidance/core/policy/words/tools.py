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
}
