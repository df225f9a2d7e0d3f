"""What is particular to PowerShell's language: how it is told, what its variables hold."""

from __future__ import annotations

import re

# At the beginning of a line, and in no other shell.
_SIGNS = re.compile(
    r"^[ \t]*(?:\$[A-Za-z_]\w*(?:\.\w+)*[ \t]*=[ \t]|(?:try|finally)[ \t]*\{"
    r"|(?:if|foreach|while|switch|param)[ \t]*\(|function[ \t]+\w+-\w+"
    r"|(?:get|set|new|test|write|out|import|export|select|start|copy|move)-[a-z]+\b)",
    re.IGNORECASE | re.MULTILINE,
)
_ASSIGNMENT = re.compile(r"\$([A-Za-z_]\w*)[ \t]*=(?!=)[ \t]*([^\n;]*)")
_TEMPORARY = re.compile(
    r"new-temporaryfile\b|\[(?:system\.)?io\.path\]::gettemp"
    r"|join-path[ \t]+(?:-path[ \t]+)?[(\"']?\$env:te?mp\b|[\"']?\$env:te?mp[\\/]"
    r"|join-path[ \t]+(?:-path[ \t]+)?\(?\[(?:system\.)?io\.path\]::gettemppath"
    r"|new-item\b[^\n|]*\$env:te?mp[\\/]",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)\}?(?:\.(?:fullname|path))?", re.IGNORECASE)


def is_powershell(text: str) -> bool:
    return _SIGNS.search(text) is not None


def list_temporary_variables(text: str) -> frozenset[str]:
    """Variables that hold a temporary path, whatever else the script does."""
    if "$" not in text:
        return frozenset()
    found: dict[str, bool] = {}
    for match in _ASSIGNMENT.finditer(text):
        name = match[1].lower()
        found[name] = found.get(name, True) and bool(_TEMPORARY.match(match[2]))
    return frozenset(name for name, temporary in found.items() if temporary)


def name_temporary(word: str, variables: frozenset[str]) -> str:
    """The word with a path in the place of such a variable."""
    match = _VARIABLE.match(word)
    if match is None or match[1].lower() not in variables:
        return word
    return "$env:TEMP/made" + word[match.end() :]
