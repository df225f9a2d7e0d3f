"""Which open reviews are alike: asked by the same rules about calls of the same outline, or
by the same signal of the same agent.

A list folds what is alike into one row. That decides nothing: every review is ruled by
itself, by its own version and digest. Where the form of a content says nothing, the key is
empty and the review stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from guidance.core.canonical import hash_text, to_canonical_json
from reviews.models import Kind
from reviews.queue.subjects import Subject

KEY_LENGTH = 16
_KEY = re.compile(rf"[0-9a-f]{{{KEY_LENGTH}}}")
# What is more than one simple command is alike only where it is the same.
_NOT_SIMPLE = re.compile(r"[;&|<>$`(){}\[\]*?!#\\'\"\n]")
_OPERAND = "…"
_SUBCOMMAND = re.compile(r"[a-z][a-z-]*")
_HAVE_SUBCOMMANDS = frozenset(
    [
        "apt",
        "aws",
        "az",
        "brew",
        "cargo",
        "docker",
        "gcloud",
        "gh",
        "git",
        "go",
        "helm",
        "kubectl",
        "make",
        "npm",
        "pip",
        "podman",
        "systemctl",
        "terraform",
        "uv",
        "yarn",
    ]
)


def build_alike_key(
    *,
    kind: str,
    title: str,
    content: Mapping[str, Any],
    subject: Subject,
    severity: str,
    agent_id: int,
) -> str:
    """Equal for reviews that are alike; empty for one that stands alone."""
    try:
        same = _list_same_parts(kind, title=title, content=content, agent_id=agent_id)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return ""
    if same is None:
        return ""
    whole = to_canonical_json([kind, severity, sorted(subject.names), same])
    return hash_text(whole).partition(":")[2][:KEY_LENGTH]


def parse_alike_key(text: str) -> str | None:
    return text if _KEY.fullmatch(text) else None


def _list_same_parts(
    kind: str, *, title: str, content: Mapping[str, Any], agent_id: int
) -> list[Any] | None:
    """What must be the same beside the rules that asked; None where nothing is alike."""
    if kind == Kind.CONFIRMATION:
        return build_call_outline(content)
    if kind in (Kind.PAUSE, Kind.EXHAUSTED):
        return [agent_id]
    if kind == Kind.REQUEST:
        return [agent_id, title]
    return None


def build_call_outline(content: Mapping[str, Any]) -> list[Any]:
    """What a call does, without what it does it to: the file, the address, the text."""
    call_kind, tool, shown = content["call_kind"], content["tool"], content["shown"]
    command = shown.get("command") or (shown.get("arguments") or {}).get("command")
    if isinstance(command, str):
        return [call_kind, tool, build_command_outline(command)]
    if "file_path" in shown:
        return [call_kind, tool, PurePosixPath(shown["file_path"]).suffix]
    return [call_kind, tool, sorted(shown.get("arguments") or {})]


def build_command_outline(command: str) -> str:
    """Program, subcommand and options as they are, a sign for everything else."""
    text = command.strip()
    if _NOT_SIMPLE.search(text):
        return text
    words = text.split()
    kept = [
        word if place == 0 or _is_kept(words, place) else _OPERAND
        for place, word in enumerate(words)
    ]
    return " ".join(kept)


def _is_kept(words: list[str], place: int) -> bool:
    if words[place].startswith("-"):
        return True
    named = place == 1 and words[0] in _HAVE_SUBCOMMANDS
    return named and _SUBCOMMAND.fullmatch(words[place]) is not None
