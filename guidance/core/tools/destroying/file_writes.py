"""Calls that write a whole file: emptied, or one that the system depends on."""

from __future__ import annotations

from guidance.core.shell_commands.paths import is_system_file, is_temporary
from guidance.core.shell_commands.rules.files.valuable_files import is_marker
from guidance.core.tools.calls import Call, EditCall, ToolCall
from guidance.core.tools.destroying.tool_verbs import split_words
from guidance.core.tools.texts import Text

# Names of arguments as `normalize_name` gives them.
_PATHS = ("path", "filepath", "filename", "file", "targetfile")
_CONTENTS = ("content", "contents", "text", "data", "filetext")
# What only its own tool writes: what was made is known from nowhere else.
_STATES = (".tfstate", ".tfstate.backup")
_WRITING = frozenset(("write", "create", "save", "put", "overwrite"))


def find_write_rule(call: Call, given: dict[str, object]) -> tuple[str, Text] | None:
    """The rule that speaks about it, and the path that is written to."""
    written = _read_write(call, given)
    if written is None:
        return None
    path, content = written
    if is_temporary(path.text):
        return None
    if is_system_file(path.text):
        return "overwrite-system-file", path
    if not content.strip() and not is_marker(path.text):
        return "empty-file", path
    if path.text.endswith(_STATES):
        return "overwrite-file", path
    return None


def _read_write(call: Call, given: dict[str, object]) -> tuple[Text, str] | None:
    if isinstance(call, EditCall):
        return Text("/file_path", call.file_path), call.content
    if not isinstance(call, ToolCall) or _WRITING.isdisjoint(split_words(call.tool)):
        return None
    for name in _PATHS:
        path = given.get(name)
        contents = [given[each] for each in _CONTENTS if each in given]
        if isinstance(path, str) and contents and isinstance(contents[0], str):
            return Text("/arguments", path), contents[0]
    return None
