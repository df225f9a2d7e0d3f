"""What is shown of a text, a command, a diff or a path, as markup: one function each.

The templates escape all content; nothing of it becomes a tag, an attribute or a link.
"""

from __future__ import annotations

from django.template.loader import get_template
from django.utils.safestring import SafeString

from safetext.commands import ShownCommand
from safetext.diffs.rows import ShownDiff
from safetext.paths import ShownPath
from safetext.texts import ShownText


def text_fragment(shown: ShownText, *, narrated: bool = False) -> SafeString:
    """`narrated` text is an agent's own words, set apart and labelled as such."""
    return _render("text", {"shown": shown, "narrated": narrated})


def command_fragment(shown: ShownCommand) -> SafeString:
    return _render("command", {"shown": shown})


def diff_fragment(shown: ShownDiff) -> SafeString:
    return _render("diff", {"shown": shown})


def path_fragment(shown: ShownPath) -> SafeString:
    return _render("path", {"shown": shown})


def _render(name: str, context: dict[str, object]) -> SafeString:
    template = get_template(f"safetext/_{name}.html")
    return SafeString(template.render(context))
