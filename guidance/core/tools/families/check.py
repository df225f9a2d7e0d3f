"""Reads and edits of sensitive files, and tools that show or send secrets.

Commands are judged where they are read (shell_commands.families); this is the same for
calls that name a file, an address or a text instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from guidance.core.shell_commands.families.addresses import is_metadata_address
from guidance.core.shell_commands.families.afar import grants_rights, reads_passwords
from guidance.core.shell_commands.families.code import list_program_rules
from guidance.core.shell_commands.families.contents import (
    list_content_rules,
    list_manifest_rules,
)
from guidance.core.shell_commands.families.destinations import is_request_file
from guidance.core.shell_commands.families.guard.files import writes_guard_file
from guidance.core.shell_commands.families.guard.texts import (
    answers_review,
    is_ruling_address,
    is_ruling_request,
)
from guidance.core.shell_commands.families.reads import is_wide
from guidance.core.shell_commands.limits import TooMuchError
from guidance.core.shell_commands.sensitive.guard_paths import (
    is_guard_data,
    is_guard_setting,
)
from guidance.core.shell_commands.sensitive.secret_names import (
    is_hunting,
    is_secret_variable,
)
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.sensitive.written_paths import (
    find_written_rule,
    redirects_names,
)
from guidance.core.tools.calls import EditCall, MultiEditCall, ToolCall
from guidance.core.tools.code_arguments import split_code
from guidance.core.tools.destroying.tool_verbs import PRODUCTION
from guidance.core.tools.evidence import CallEvidence
from guidance.core.tools.families import vocabulary
from guidance.core.tools.families.guard import list_guard_rules
from guidance.core.tools.families.texts import count_texts, list_all_texts
from guidance.core.tools.findings import CallFinding
from guidance.core.tools.rule_findings import make_rule_finding
from guidance.core.tools.section import ToolRules
from guidance.core.tools.texts import Text, list_texts

# Files, times the texts that a call gives for them.
_MOST_PAIRS = 2_500


def check_families(rules: ToolRules, evidence: CallEvidence) -> Iterator[CallFinding]:
    told: set[str] = set()
    for rule, text in _list_all_rules(evidence):
        finding = None if rule in told else make_rule_finding(rules, rule, text)
        if finding is not None:
            told.add(rule)
            yield finding


def _list_all_rules(evidence: CallEvidence) -> Iterator[tuple[str, Text]]:
    """List them; what was found before it was too much stands, the rest is for a person."""
    try:
        yield from _list_rules(evidence)
    except TooMuchError:
        yield "opaque-size", Text("/arguments", "")


def _list_rules(evidence: CallEvidence) -> Iterator[tuple[str, Text]]:
    call = evidence.call
    if isinstance(call, EditCall):
        content = Text("/content", call.content)
        yield from _list_write_rules(call.file_path, [content])
        yield from _list_patch_rules(content)
    elif isinstance(call, MultiEditCall):
        texts = [
            Text(f"/edits/{number}/new", edit.new)
            for number, edit in enumerate(call.edits)
        ]
        yield from _list_write_rules(call.file_path, texts)
    elif isinstance(call, ToolCall):
        yield from _list_tool_rules(evidence, call.tool)


def _list_tool_rules(evidence: CallEvidence, tool: str) -> Iterator[tuple[str, Text]]:
    words = split_tool_name(tool)
    named = Text("/tool", tool)
    if words & vocabulary.SHOWING and (
        words & vocabulary.SECRETS
        or (words & vocabulary.MANAGERS and not words & vocabulary.NOTES)
        or _names_secret(evidence, words)
    ):
        yield "credential-print", named
    if (words & vocabulary.RIGHTS and words & vocabulary.GRANTING) or (
        words & vocabulary.PROTECTION and words & vocabulary.LOOSENING
    ):
        yield "privilege-grant", named
    paths = list(list_arguments(evidence, vocabulary.PATHS))
    if words & vocabulary.WRITING:
        texts = list(list_arguments(evidence, vocabulary.CONTENTS))
        if len(paths) * len(texts) > _MOST_PAIRS:
            raise TooMuchError(f"more than {_MOST_PAIRS:,} texts for files")
        for path in paths:
            yield from _list_write_rules(path.text, texts, path)
    elif words & vocabulary.READING:
        for path in paths:
            rule = find_secret_rule(path.text)
            if is_guard_data(path.text):
                yield "guard-data", path
            elif rule:
                yield rule, path
    if words & vocabulary.SEARCHING and any(is_wide(path.text) for path in paths):
        for pattern in list_arguments(evidence, vocabulary.PATTERNS):
            if is_hunting(pattern.text):
                yield "credential-search", pattern
    yield from _list_uploads(evidence, words)
    if words.isdisjoint(vocabulary.SEARCHING):
        yield from list_guard_rules(evidence, tool, words)
    if words & vocabulary.ACTING and not words & vocabulary.SEARCHING:
        yield from _list_rulings(evidence)
    for address in list_arguments(evidence, vocabulary.ADDRESSES):
        if vocabulary.KEY_IN_ADDRESS.search(address.text):
            yield "exfil-secret", address
        elif is_metadata_address(address.text):
            yield "credential-metadata", address
    if words & vocabulary.RUNNING:
        for place in list_arguments(evidence, vocabulary.PLACES):
            if PRODUCTION.fullmatch(place.text):
                yield "remote-command", place
    if "patch" in words:
        for text in list_all_texts(evidence):
            yield from _list_patch_rules(text)
    yield from _list_code_rules(evidence, tool)
    if words & vocabulary.EVALUATING:
        for code in list_arguments(evidence, vocabulary.CODE):
            for rule in list_program_rules(evidence.reading.read_again(code.text)):
                yield rule, code
    if words & vocabulary.SENDING or words & vocabulary.GRANTING:
        for reader in list_arguments(evidence, vocabulary.READERS):
            if vocabulary.EVERYBODY.fullmatch(reader.text):
                yield "exfil-publish", reader
    if words & vocabulary.PASTES and words & vocabulary.GRANTING:
        yield "exfil-paste", named
    for sql in list_arguments(evidence, vocabulary.SQL):
        if grants_rights(sql.text):
            yield "privilege-grant", sql
        if reads_passwords(sql.text):
            yield "credential-store", sql
    for manifest in (
        list_arguments(evidence, vocabulary.MANIFESTS)
        if words & vocabulary.WRITING or words & vocabulary.APPLYING
        else ()
    ):
        for rule in list_manifest_rules(evidence.reading.read_again(manifest.text)):
            yield rule, manifest
    if _opens_to_everybody(evidence, words):
        yield "exfil-publish", named


def _names_secret(evidence: CallEvidence, words: frozenset[str]) -> bool:
    """By its address in a manager, by its name, or by the wish to see it decrypted."""
    texts = [*list_all_texts(evidence)]
    if any(vocabulary.SECRET_ADDRESS.match(text.text) for text in texts):
        return True
    if words & vocabulary.VARIABLES and any(
        is_secret_variable(text.text) for text in texts
    ):
        return True
    return any(
        name in vocabulary.DECRYPTING and part is True
        for holder in evidence.held
        for name, _, part in holder.parts
    )


def _opens_to_everybody(evidence: CallEvidence, words: frozenset[str]) -> bool:
    """`private: false` of an update, `public: true` of a share."""
    if not (words & vocabulary.GRANTING or words & vocabulary.SENDING):
        return False
    if words.isdisjoint(vocabulary.KEPT_PRIVATE):
        return False
    return any(
        isinstance(part, bool) and vocabulary.OPENING.get(name) is part
        for holder in evidence.held
        for name, _, part in holder.parts
    )


def _list_uploads(
    evidence: CallEvidence, words: frozenset[str]
) -> Iterator[tuple[str, Text]]:
    """Files that go along with a message, or to a store."""
    names: frozenset[str] = frozenset()
    if words & vocabulary.SENDING:
        names = vocabulary.ATTACHED
        if words & vocabulary.FILES:
            names |= vocabulary.SENT_PATHS
    elif words & vocabulary.STORES and "put" in words:
        names = vocabulary.ATTACHED | vocabulary.SENT_PATHS
    for path in list_arguments(evidence, names) if names else ():
        place = path.text
        if find_secret_rule(place):
            yield "exfil-secret", path
        elif (
            vocabulary.PATH.fullmatch(place)
            and not vocabulary.PICTURE.fullmatch(place)
            and not is_request_file(place)
        ):
            yield "exfil-upload", path


def _list_rulings(evidence: CallEvidence) -> Iterator[tuple[str, Text]]:
    """An address that answers a review, or a button and the page that it stands on."""
    texts: list[Text] = []
    for text in list_all_texts(evidence):
        short = len(text.text) < vocabulary.SHORT
        if is_ruling_request(text.text) if short else is_ruling_address(text.text):
            yield "guard-ruling", text
            return
        if short:
            texts.append(text)
    pressing = not vocabulary.PRESSING.isdisjoint(split_tool_name(evidence.call.tool))
    if pressing and is_ruling_request(" ".join(text.text for text in texts)):
        yield "guard-ruling", texts[0]


def _list_write_rules(
    path: str, texts: Iterable[Text], place: Text | None = None
) -> Iterator[tuple[str, Text]]:
    """What is said about writing this file, and about what is put into it."""
    where = place or Text("/file_path", path)
    if is_guard_setting(path):
        yield "guard-settings", where
    elif is_guard_data(path):
        yield "guard-data", where
    rule = find_written_rule(path)
    if rule:
        yield rule, where
    for text in texts:
        if redirects_names(path, text.text):
            yield "persist-hook", text
        for found in list_content_rules(path, text.text):
            yield found, text


def _list_patch_rules(patch: Text) -> Iterator[tuple[str, Text]]:
    """Each file that a patch names is written."""
    if not patch.text.lstrip().startswith("*** Begin Patch"):
        return
    for found in vocabulary.PATCHED.finditer(patch.text):
        yield from _list_write_rules(found[1].strip(), (), patch)


def _list_code_rules(evidence: CallEvidence, tool: str) -> Iterator[tuple[str, Text]]:
    """What an interpreter is given to run, as list_program_rules reads commands' code."""
    code, _ = split_code(tool, evidence.held)
    for text in dict.fromkeys(part.text for part in code):
        program = evidence.reading.read_again(text.text)
        if writes_guard_file(program):
            yield "guard-settings", text
        if answers_review(program):
            yield "guard-ruling", text
        for rule in list_program_rules(program):
            yield rule, text


def split_tool_name(tool: str) -> frozenset[str]:
    """The words in a name such as mcp__vault__readSecret."""
    return frozenset(word.lower() for word in vocabulary.WORD.findall(tool[:200]))


def list_arguments(evidence: CallEvidence, names: frozenset[str]) -> Iterator[Text]:
    """The texts of arguments with such names, wherever they stand."""
    for holder in evidence.held:
        for name, key, part in holder.parts:
            if name in names:
                yield from count_texts(
                    evidence, list_texts(part, f"{holder.place}/{key}")
                )
