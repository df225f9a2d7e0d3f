"""Requests that a tool sends, judged as the same request by `curl` would be."""

from __future__ import annotations

import json
from collections.abc import Iterator

from guidance.core.shell_commands import judge_command
from guidance.core.shell_commands.rules.hosting.questions import deletes_by_mutation
from guidance.core.shell_commands.shell.quoting import quote
from guidance.core.tools.evidence import CallEvidence

# Names of arguments as `normalize_name` gives them.
_METHODS = ("method", "httpmethod", "requestmethod")
_ADDRESSES = ("url", "uri", "address", "endpoint")
_BODIES = ("body", "data", "json", "payload")
# What is said of a request, the worse first.
_TOLD = ("http-delete", "opaque-size")
_QUERIES = ("query", "mutation", "document", "graphql")


def find_request_rule(evidence: CallEvidence) -> str | None:
    """A request, wherever its method and its address stand in the arguments."""
    parts = {name: part for holder in evidence.held for name, _, part in holder.parts}
    if any(deletes_by_mutation(text) for text in _list_queries(parts)):
        return "http-delete"
    method = next((parts[name] for name in _METHODS if name in parts), None)
    place = next((parts[name] for name in _ADDRESSES if name in parts), None)
    if not isinstance(method, str) or method.upper() in ("GET", "HEAD"):
        return None
    words = ["curl", "-X", method.upper()]
    headers = parts.get("headers")
    for name, value in headers.items() if isinstance(headers, dict) else ():
        words += ["-H", f"{name}: {value}"]
    for body in _list_bodies(parts):
        words += ["-d", body]
    words.append(place if isinstance(place, str) else "elsewhere")
    found = judge_command(" ".join(map(quote, words)), budget=evidence.reading)
    rules = {each.rule for each in found}
    return next((rule for rule in _TOLD if rule in rules), None)


def _list_queries(parts: dict[str, object]) -> Iterator[str]:
    for name in _QUERIES:
        query = parts.get(name)
        if isinstance(query, str):
            yield query


def _list_bodies(parts: dict[str, object]) -> Iterator[str]:
    for name in _BODIES:
        body = parts.get(name)
        if isinstance(body, str):
            yield body
        elif isinstance(body, dict | list):
            yield json.dumps(body)
