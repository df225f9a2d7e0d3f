"""What an edit puts where it was found: its new text, with the line ends of the file."""

from __future__ import annotations

from guidance.core.edits.edit import Edit
from guidance.core.edits.matching import Found, Original

_ENDS = ("\n", "\r")


class Filling:
    """The new text of one edit. Each form of it is made once, for there may be very many
    places."""

    def __init__(self, edit: Edit, source: Original) -> None:
        self._edit = edit
        self._source = source
        self._speaks_of_cr = "\r" in edit.old or "\r" in edit.new
        self._forms: dict[tuple[bool, str], str] = {}

    def at(self, found: Found) -> str:
        """An edit that was found to the letter and itself speaks of CR is taken
        literally."""
        edit, text = self._edit, self._source.text
        if self._speaks_of_cr and text[found.start : found.end] == edit.old:
            return edit.new
        # If the file ends without a line end, it goes on doing so.
        lost = edit.old.endswith(_ENDS) and not text.endswith(_ENDS, 0, found.end)
        form = lost, self._source.ending_at(found.start, found.end)
        if form not in self._forms:
            self._forms[form] = self._formed(*form)
        return self._forms[form]

    def _formed(self, lost: bool, ending: str) -> str:
        new = self._edit.new.replace("\r\n", "\n")
        if lost:
            new = new.removesuffix("\n")
        return new if ending == "\n" else new.replace("\n", ending)
