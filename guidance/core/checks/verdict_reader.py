"""Read a verdict out of the text that a model wrote.

A PASS is read narrowly and a FAIL widely. The first verdict line wins; but a PASS is
believed only where nothing in the whole text looks like a FAIL, so that no quotation,
echo or disguise around a FAIL makes a PASS of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from guidance.core.checks.combined_gates import CHECK_LIMIT
from guidance.core.checks.disguise import find_first_fail, find_hidden_problem
from guidance.core.checks.verdicts import (
    GateVerdict,
    Verdict,
    VerdictProblem,
    list_contradictions,
)

# What is repeated endlessly ends before what follows it, so that reading takes linear time.
_MARKS = r"[*_`]{0,6}"
_GAP = r"[ \t*_`]{0,16}"
# A hyphen within a word, as in PASS-through, separates nothing.
_SEPARATOR = r"(?:(?<=[ \t])-{1,3}|-{1,3}(?=[ \t])|[\u2010-\u2015\u2212]|(?P<colon>:))"
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
    rf"\n+(?P<lead>{_MARKS})(?:\[ ?(?P<index>\d{{1,6}}) ?\]|(?P<number>\d{{1,6}})[.):]?)"
    rf"(?P<before>{_GAP}){_WORD}",
    _FLAGS,
)
# A verdict that lacks its reason, for a better answer than "none".
_INCOMPLETE = re.compile(
    rf"^{_MARKS}GATE(?:_REVIEW{_GAP}:|[ \t]){_GAP}(?:PASS|FAIL)\b", _FLAGS
)
_FENCE = re.compile(r"(?P<sign>`{3,}(?=[^`]*$)|~{3,})")
_RUN_OF_MARKS = re.compile(r"[*_`]+")


def read_verdict_text(
    text: str, *, gates: int | None, bare: bool
) -> Verdict | VerdictProblem:
    """The verdict that a text states; `bare` where the text is the verdict field itself.

    `gates` is how many the check has, None where that is unknown.
    """
    lines = [line.strip() for line in text.splitlines()]
    body = unquoted = "\n".join(lines)
    if "```" in body or "~~~" in body:
        lines = _strip_fences(lines)
        body, unquoted = "\n".join(lines), "\n".join(_hide_code_blocks(lines))
    first = len(body) - len(body.lstrip())
    found = list(_VERDICT.finditer(unquoted))
    verdicts = [
        line
        for line in found
        if line["bare"] is None
        or (bare and line.start() == first and line["colon"] is None)
    ]
    if not verdicts:
        return _make_problem(_describe_missing(body, unquoted, misplaced=bool(found)))
    # One more than there can be, so that too many are refused without reading them all.
    entries = list(islice(_find_entries(unquoted), CHECK_LIMIT + 1))
    verdict = Verdict(
        overall=verdicts[0]["word"].upper(),
        rationale=_read_reason(verdicts[0]),
        per_gate=tuple(map(_read_gate_verdict, entries)),
        form=_name_form(verdicts[0]),
    )
    problems = [
        f"{path}: {why}" for path, why in list_contradictions(verdict, gates=gates)
    ]
    if verdict.passed and not problems:
        rest = _blank_lines(body, [*verdicts, *entries])
        problems = list(_list_doubts(verdicts, rest, text))
    return _make_problem(*problems) if problems else verdict


def _list_doubts(verdicts: list[re.Match[str]], rest: str, text: str) -> Iterator[str]:
    """Why a PASS is not believed; `rest` is what stands around its lines."""
    if any(line["word"].upper() == "FAIL" for line in verdicts):
        yield "the verdict lines disagree: the text says PASS and FAIL"
    elif number := find_first_fail(rest):
        yield f"the text says PASS, and line {number} reads as a FAIL"
    if why := find_hidden_problem(text):
        yield why


def _find_entries(body: str) -> Iterator[re.Match[str]]:
    """The lines under the first header that has any; blank ones are passed over."""
    for header in _HEADER.finditer(body):
        entry = _ENTRY.match(body, header.end())
        if entry is None:
            continue
        while entry is not None:
            yield entry
            entry = _ENTRY.match(body, _find_line_end(entry))
        return


def _read_gate_verdict(entry: re.Match[str]) -> GateVerdict:
    return GateVerdict(
        index=int(entry["index"] or entry["number"]),
        passed=entry["word"].upper() == "PASS",
        rationale=_read_reason(entry),
    )


def _read_reason(line: re.Match[str]) -> str:
    """What follows, without the signs that close those opened before the verdict."""
    reason = line.string[line.end() : _find_line_end(line)].strip()
    opened: list[str] = []
    for run in _RUN_OF_MARKS.findall("\n".join(_find_gaps(line))):
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


def _find_gaps(line: re.Match[str]) -> list[str]:
    names = ("lead", "before", "between", "after")
    groups = line.groupdict()
    return [groups[name] for name in names if groups.get(name)]


def _name_form(line: re.Match[str]) -> str:
    if line["bare"] is not None:
        return "bare"
    mark = "gate_review" if line["review"] else "gate"
    return f"{mark}_colon" if line["colon"] else mark


def _find_line_end(line: re.Match[str]) -> int:
    end = line.string.find("\n", line.end())
    return len(line.string) if end < 0 else end


def _blank_lines(body: str, lines: list[re.Match[str]]) -> str:
    """The text without these lines; every other line keeps its number."""
    pieces = []
    position = 0
    for line in sorted(lines, key=re.Match.end):
        line_ends = body.count("\n", line.start(), line.end())
        pieces += [body[position : line.start()], "\n" * line_ends]
        position = _find_line_end(line)
    return "".join([*pieces, body[position:]])


def _strip_fences(lines: list[str]) -> list[str]:
    """A text that is one code block as a whole, without its fences."""
    filled = [place for place, line in enumerate(lines) if line]
    if len(filled) < 2:
        return lines
    first, last = filled[0], filled[-1]
    fence = _FENCE.match(lines[first])
    if fence is None or not _closes_fence(lines[last], fence["sign"]):
        return lines
    inside = lines[first + 1 : last]
    if any(_closes_fence(line, fence["sign"]) for line in inside):
        return lines
    return [*lines[:first], "", *inside, "", *lines[last + 1 :]]


def _hide_code_blocks(lines: list[str]) -> Iterator[str]:
    """Every line at its place, those inside of code blocks made unreadable."""
    sign = ""
    for line in lines:
        if sign:
            sign = "" if _closes_fence(line, sign) else sign
        elif fence := _FENCE.match(line):
            sign = fence["sign"]
        else:
            yield line
            continue
        yield "`" * len(line)


def _closes_fence(line: str, sign: str) -> bool:
    return line.startswith(sign) and not line.strip(sign[0])


def _describe_missing(body: str, unquoted: str, *, misplaced: bool) -> str:
    if _INCOMPLETE.search(unquoted):
        return "after PASS or FAIL, a dash or a colon and the reason are missing"
    if misplaced:
        return "PASS or FAIL alone counts only with a dash, at the start of the verdict field"
    if body != unquoted and _VERDICT.search(body):
        return "a verdict inside a code block is a quotation, and none stands outside"
    return "no verdict line stands in the text"


def _make_problem(*why: str) -> VerdictProblem:
    return VerdictProblem(tuple(("text", each) for each in why))
