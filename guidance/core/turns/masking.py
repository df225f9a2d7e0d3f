"""Hide what is not prose in a text: code, quoted strings, addresses, thoughts in tags.

Hiding never moves anything: each character gives way to one other, so that a place in
the hidden text is the same place in the original. Only what is closed is hidden; where
an end is missing the text stays visible, because a question that was not seen is worse
than one too many.
"""

from __future__ import annotations

import re

# Stands for one hidden character within a sentence.
HIDDEN = "\ufffc"

_SAME_LENGTH = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u2032\uff07\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\uff02\u2033", '"'),
        **dict.fromkeys("\u2028\u2029\x0b\x0c\x85", "\n"),
        "\r": " ",
        HIDDEN: " ",
    }
)
_THOUGHTS = (("<think>", "</think>"), ("<thinking>", "</thinking>"))
# Backticks that end in the same line are code within it, no fence.
_FENCE = re.compile(r"^[ \t>]*(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)$", re.MULTILINE)
_ADDRESS = re.compile(r"(?:https?|wss?|ftp|file)://[^\s<>\"'`]+", re.IGNORECASE)
# A quotation is hidden inside a sentence that mentions it. One that stands by itself, or
# after a colon, may be the question itself.
_MENTIONED = r"(?:(?<=[\w,)*_`\ufffc]\s)|(?<=[(\[=]))"
_INLINE = re.compile(
    rf"""
    (?<!`)(`+)[^`\n]+\1(?!`)
    | {_MENTIONED}"(?=\S)[^"\n]+(?<=\S)"(?!\w)
    # Within one sentence only: such a mark may be an apostrophe.
    | {_MENTIONED}'(?=\S)[^'\n.!?;:]+[.!?]?(?<=\S)'(?!\w)
    """,
    re.VERBOSE,
)
_LETTER = re.compile(r"\w")


def straighten(text: str) -> str:
    """The text with one form of each quotation mark and of each line end."""
    return text.translate(_SAME_LENGTH)


def mask(text: str) -> str:
    """The text with everything hidden that is not said to the reader."""
    told = _strip_thoughts(straighten(text))
    prose = _strip_fences(told)
    if not _LETTER.search(prose):
        # Nothing but a block: some models wrap all they have to say into one.
        prose = told
    prose = _ADDRESS.sub(_hide_address, prose)
    return "\n".join(map(_strip_inline, prose.split("\n")))


def _strip_thoughts(text: str) -> str:
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = text
    for opening, closing in _THOUGHTS:
        pieces, done = [], 0
        while (start := lowered.find(opening, done)) >= 0:
            end = lowered.find(closing, start)
            if end < 0:
                break
            end += len(closing)
            pieces += [text[done:start], "\n" * (end - start)]
            done = end
        text = "".join([*pieces, text[done:]])
    return text


def _strip_fences(text: str) -> str:
    """Code blocks become empty lines, so that no sentence runs through one."""
    pieces: list[str] = []
    done = 0
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        # The same sign at least as often.
        elif fence[1].startswith(opened[1]):
            if fence[2].strip():
                # A second opening: the first block was never closed, so it stays.
                opened = fence
                continue
            pieces += [
                text[done : opened.start()],
                "\n" * (fence.end() - opened.start()),
            ]
            done, opened = fence.end(), None
    return "".join([*pieces, text[done:]])


def _hide_address(found: re.Match[str]) -> str:
    """A mark at the end of an address ends the sentence, not the address."""
    address = found[0].rstrip(".,;:!?)]}*_~")
    return HIDDEN * len(address) + found[0][len(address) :]


def _strip_inline(line: str) -> str:
    if "`" not in line and '"' not in line and "'" not in line:
        return line
    hidden = _INLINE.sub(lambda found: HIDDEN * len(found[0]), line)
    # A line that is nothing but code is what the agent says, not what it mentions.
    return hidden if _LETTER.search(hidden) else line
