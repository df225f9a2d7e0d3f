"""What goes to places that others read: pull requests, images, packages, web clients."""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.destinations import is_local
from guidance.core.shell_commands.sensitive.secret_names import is_secret_variable
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.shell.tree import Simple, Variable, Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

FORGES = split_names("gh glab hub tea jira")
BUILDING = split_names("docker podman buildah")
_WEB_UPLOAD = compile_byte_pattern(
    r"\.Upload(?:File|Data|String|Values)(?:Async|TaskAsync)?\s*\(\s*[\"']?[^\"',)\s]+",
    ignore_case=True,
)


def judge_forge(walk: Walk, call: ProgramCall) -> None:
    """A secret as the text of a pull request, an issue, a release."""
    if any(map(find_secret_rule, _list_values(call.argv))):
        walk.report.add("exfil-secret", call)


def judge_image(walk: Walk, call: ProgramCall) -> None:
    """A secret among the arguments of a build stays in the image, which is then pushed."""
    if "build" not in call.argv[1:] or "--build-arg" not in " ".join(call.argv):
        return
    secret = any(
        isinstance(piece, Variable) and is_secret_variable(piece.name)
        for word in call.simple.words
        if isinstance(word, Word)
        for piece in word.pieces
    )
    if secret and ("--push" in call.argv or _is_pushed_later(call)):
        walk.report.add("exfil-secret", call)


def judge_web_client(walk: Walk, call: ProgramCall) -> None:
    """`(New-Object Net.WebClient).UploadFile(address, file)`."""
    text = walk.budget.read_again(call.script.text[call.simple.start :])
    found = _WEB_UPLOAD.search(encode_one_byte(text))
    if found is None:
        return
    address = text[slice(*found)].rpartition("(")[2].strip(" \"'")
    if not is_local(address):
        walk.report.add_whole("exfil-upload", call)


def _is_pushed_later(call: ProgramCall) -> bool:
    return any(
        isinstance(item, Simple) and "push" in item.words[1:3]
        for item in call.script.items
    )


def _list_values(argv: list[str]) -> Iterator[str]:
    """Operands and the values of options, also behind `=` and `@`."""
    for word in argv[1:]:
        yield word
        for sign in "=@":
            if sign in word:
                yield word.rpartition(sign)[2]
