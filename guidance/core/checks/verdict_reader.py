"""Reading a verdict out of what a model wrote.

A PASS is read narrowly and a FAIL widely. The first verdict line wins; but a PASS is
believed only where nothing in the whole text looks like a FAIL, so that no quotation,
echo or disguise around a FAIL makes a PASS of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from guidance.core.checks.combined_gates import CHECK_LIMIT
from guidance.core.checks.disguise import first_fail, hidden_problem
from guidance.core.checks.verdicts import (
    GateVerdict,
    Verdict,
    VerdictProblem,
    unsound,
)

# Every repetition is possessive or short, so that reading takes linear time.
_MARKS = r"[*_`]{0,6}+"
_GAP = r"[ \t*_`]{0,16}+"
# A hyphen within a word, as in PASS-through, separates nothing.
_SEPARATOR = (
    r"(?:(?<=[ \t])-{1,3}+|-{1,3}+(?=[ \t])|[\u2010-\u2015\u2212]|(?P<colon>:))"
)
_WORD = rf"(?P<word>PASS|FAIL)(?P<after>{_GAP}){_SEPARATOR}"
_FLAGS = re.ASCII | re.IGNORECASE | re.MULTILINE
_VERDICT = re.compile(
    rf"^(?P<lead>{_MARKS})"
    rf"(?:(?P<review>GATE_REVIEW)(?P<before>{_GAP}:{_GAP})"
    rf"|GATE(?P<between>{_MARKS}[ \t]{_GAP})|(?P<bare>)){_WORD}",
    _FLAGS,
)
_HEADER = re.compile(rf"^{_MARKS}(?:GATE|CRITERION)_VERDICTS{_GAP}:?{_GAP}$", _FLAGS)
_ENTRY = re.compile(
    rf"\n++(?P<lead>{_MARKS})(?:\[ ?(?P<index>\d{{1,6}}) ?\]|(?P<number>\d{{1,6}})[.):]?)"
    rf"(?P<before>{_GAP}){_WORD}",
    _FLAGS,
)
# A verdict that lacks its reason, for a better answer than "none".
_INCOMPLETE = re.compile(
    rf"^{_MARKS}GATE(?:_REVIEW{_GAP}:|[ \t]){_GAP}(?:PASS|FAIL)\b", _FLAGS
)
_FENCE = re.compile(r"(?P<sign>`{3,}+(?=[^`]*$)|~{3,}+)")
_RUN_OF_MARKS = re.compile(r"[*_`]+")


def read_text(text: str, *, gates: int | None, bare: bool) -> Verdict | VerdictProblem:
    """The verdict that a text states; `bare` where the text is the verdict field itself.

    `gates` is how many the check has, None where that is unknown.
    """
    lines = [line.strip() for line in text.splitlines()]
    body = unquoted = "\n".join(lines)
    if "```" in body or "~~~" in body:
        lines = _unwrapped(lines)
        body, unquoted = "\n".join(lines), "\n".join(_unquoted(lines))
    first = len(body) - len(body.lstrip())
    found = list(_VERDICT.finditer(unquoted))
    verdicts = [
        line
        for line in found
        if line["bare"] is None
        or (bare and line.start() == first and line["colon"] is None)
    ]
    if not verdicts:
        return _problem(_what_is_missing(body, unquoted, misplaced=bool(found)))
    # One more than there can be, so that too many are refused without reading them all.
    entries = list(islice(_entries(unquoted), CHECK_LIMIT + 1))
    verdict = Verdict(
        overall=verdicts[0]["word"].upper(),
        rationale=_reason(verdicts[0]),
        per_gate=tuple(map(_gate_verdict, entries)),
        form=_form(verdicts[0]),
    )
    problems = [f"{path}: {why}" for path, why in unsound(verdict, gates=gates)]
    if verdict.passed and not problems:
        rest = _blanked(body, [*verdicts, *entries])
        problems = list(_doubts(verdicts, rest, text))
    return _problem(*problems) if problems else verdict


def _doubts(verdicts: list[re.Match[str]], rest: str, text: str) -> Iterator[str]:
    """Why a PASS is not believed; `rest` is what stands around its lines."""
    if any(line["word"].upper() == "FAIL" for line in verdicts):
        yield "the verdict lines disagree: the text says PASS and FAIL"
    elif number := first_fail(rest):
        yield f"the text says PASS, and line {number} reads as a FAIL"
    if why := hidden_problem(text):
        yield why


def _entries(body: str) -> Iterator[re.Match[str]]:
    """The lines under the first header that has any; blank ones are passed over."""
    for header in _HEADER.finditer(body):
        entry = _ENTRY.match(body, header.end())
        if entry is None:
            continue
        while entry is not None:
            yield entry
            entry = _ENTRY.match(body, _line_end(entry))
        return


def _gate_verdict(entry: re.Match[str]) -> GateVerdict:
    return GateVerdict(
        index=int(entry["index"] or entry["number"]),
        passed=entry["word"].upper() == "PASS",
        rationale=_reason(entry),
    )


def _reason(line: re.Match[str]) -> str:
    """What follows, without the signs that close those opened before the verdict."""
    reason = line.string[line.end() : _line_end(line)].strip()
    opened: list[str] = []
    for run in _RUN_OF_MARKS.findall("\n".join(_gaps(line))):
        if opened and opened[-1] == run[::-1]:
            opened.pop()
        else:
            opened.append(run)
    for run in opened:
        closing = run[::-1]
        if reason.endswith(closing):
            reason = reason.removesuffix(closing).rstrip()
        else:
            reason = reason.removeprefix(closing).lstrip()
    return reason


def _gaps(line: re.Match[str]) -> list[str]:
    names = ("lead", "before", "between", "after")
    groups = line.groupdict()
    return [groups[name] for name in names if groups.get(name)]


def _form(line: re.Match[str]) -> str:
    if line["bare"] is not None:
        return "bare"
    mark = "gate_review" if line["review"] else "gate"
    return f"{mark}_colon" if line["colon"] else mark


def _line_end(line: re.Match[str]) -> int:
    end = line.string.find("\n", line.end())
    return len(line.string) if end < 0 else end


def _blanked(body: str, lines: list[re.Match[str]]) -> str:
    """The text without these lines; every other line keeps its number."""
    pieces = []
    position = 0
    for line in sorted(lines, key=re.Match.end):
        line_ends = body.count("\n", line.start(), line.end())
        pieces += [body[position : line.start()], "\n" * line_ends]
        position = _line_end(line)
    return "".join([*pieces, body[position:]])


def _unwrapped(lines: list[str]) -> list[str]:
    """A text that is one code block as a whole, without its fences."""
    filled = [place for place, line in enumerate(lines) if line]
    if len(filled) < 2:
        return lines
    first, last = filled[0], filled[-1]
    fence = _FENCE.match(lines[first])
    if fence is None or not _closes(lines[last], fence["sign"]):
        return lines
    inside = lines[first + 1 : last]
    if any(_closes(line, fence["sign"]) for line in inside):
        return lines
    return [*lines[:first], "", *inside, "", *lines[last + 1 :]]


def _unquoted(lines: list[str]) -> Iterator[str]:
    """Every line at its place, those inside of code blocks made unreadable."""
    sign = ""
    for line in lines:
        if sign:
            sign = "" if _closes(line, sign) else sign
        elif fence := _FENCE.match(line):
            sign = fence["sign"]
        else:
            yield line
            continue
        yield "`" * len(line)


def _closes(line: str, sign: str) -> bool:
    return line.startswith(sign) and not line.strip(sign[0])


def _what_is_missing(body: str, unquoted: str, *, misplaced: bool) -> str:
    if _INCOMPLETE.search(unquoted):
        return "after PASS or FAIL, a dash or a colon and the reason are missing"
    if misplaced:
        return "PASS or FAIL alone counts only with a dash, at the start of the verdict field"
    if body != unquoted and _VERDICT.search(body):
        return "a verdict inside a code block is a quotation, and none stands outside"
    return "no verdict line stands in the text"


def _problem(*why: str) -> VerdictProblem:
    return VerdictProblem(tuple(("text", each) for each in why))
