"""A port that is freed for one's own development server, started by the same command."""

from __future__ import annotations

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.shell.tree import Simple
from guidance.core.shell_commands.word_lists import split_names

_MOST = 24
_PREFIXES = split_names("nohup npx uv poetry run exec time env bundle python -m")
# Servers of frameworks, and the words that start them; none: always.
_SERVERS = {
    "manage.py": split_names("runserver"),
    "uvicorn": frozenset[str](),
    "gunicorn": frozenset[str](),
    "fastapi": split_names("dev run"),
    "artisan": split_names("serve"),
    "mkdocs": split_names("serve"),
    "flask": split_names("run"),
    "rails": split_names("s server"),
    "vite": frozenset[str](),
    "next": split_names("dev start"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), split_names("dev start serve")),
}
_PORT = "8000"
# They take that port without being told.
_BY_DEFAULT = split_names("manage.py uvicorn gunicorn fastapi artisan mkdocs")


def serves_again(call: ProgramCall) -> bool:
    """Does a later command start such a server? The guard itself is none of them."""
    text = call.script.text
    if "checkrail" in text.lower() or "manage.py up" in text:
        return False
    items = call.script.items[:_MOST]
    after = False
    for item in items:
        if item is call.simple:
            after = True
        elif after and isinstance(item, Simple) and _is_server(item):
            return True
    return False


def _is_server(item: Simple) -> bool:
    words = [word for word in item.words if isinstance(word, str)]
    while words and (resolve_program(words[0]) in _PREFIXES or words[0] in _PREFIXES):
        words = words[1:]
    name = resolve_program(words[0]) if words else ""
    verbs = _SERVERS.get(name)
    if verbs is None or (verbs and verbs.isdisjoint(words)):
        return False
    return name in _BY_DEFAULT or any(_PORT in word for word in words)
