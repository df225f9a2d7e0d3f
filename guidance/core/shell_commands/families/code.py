"""Programs given on a command line or written to a file: what they read and send."""

from __future__ import annotations

from collections.abc import Iterator

from guidance.core.regex import PatternSet, compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.code_uploads import SENDING, sends_file
from guidance.core.shell_commands.families.signs import SIGNS, hides_sign
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

INTERPRETING = split_names(
    "python ipython node bun deno tsx ts-node perl ruby irb php lua rscript r "
    "awk gawk osascript tclsh manage.py flask rails artisan"
)
_LITERAL = compile_byte_pattern(r"[\"'`][^\"'`\n]{0,160}[\"'`]")
_ENVIRONMENT = r"(?:os\.environ|process\.env|ENV|getenv\(\s*\)|\$_ENV|%ENV|\$_SERVER|System\.getenv\(\))"
_DUMP = compile_byte_pattern(
    r"(?:print|pprint|puts|echo|log|dumps|stringify|var_dump|print_r|inspect|warn|say|dict"
    r"|entries|values)\s*[( ]\s*(?:dict\s*\(\s*)?"
    + _ENVIRONMENT
    + r"(?:\.(?:items|copy|to_h|inspect)\(?\)?)?\s*(?:[),;}\n\"']|$)"
    r"|^\s*process\.env\s*$|print[^\n]{0,60}\bfor\b[^\n]{0,40}\bin (?:sorted\()?os\.environ(?:\.items\(\))?"
    r"|for\b[^\n]{0,40}\bin (?:sorted\()?os\.environ\.items\(\)|(?:for|map)\b[^\n]{0,20}keys %ENV"
)
_OPENING = compile_byte_pattern(
    r"\b(?:open|read\w*|slurp|file_get_contents|dotenv_values|fopen|load|parse|cat|path)\b",
    ignore_case=True,
)
# The folder of a person, to which the name of a file is joined.
_HOME = compile_byte_pattern(
    r"homedir\(|\bhome\(\)|[.\[\"'(]HOME\b|expanduser|userprofile", ignore_case=True
)
_FETCHED_CODE = compile_byte_pattern(
    r"(?:eval|exec|Function|instance_eval|compile|system)\W{1,3}(?:[\w.]{0,40}\W{1,3}){0,6}"
    r"(?:urlopen|requests\.get|httpx\.get|URI\.open|open-uri|Net::HTTP|get\s*[(\"']+\s*[\"']?https?"
    r"|file_get_contents\s*\(\s*[\"']https?|fetch\s*\()"
    r"|\.then\s*\(\s*eval\s*\)|\.then\s*\([^)]{0,40}eval\s*\(|eval\s*\(\s*await"
)
_LOGIN_ITEM = compile_byte_pattern(
    r"\bmake\b[^\n]{0,40}\blogin item\b", ignore_case=True
)
_HANDED_SHELL = compile_byte_pattern(
    r"dup2\s*\(|pty\.spawn|net\.connect\([^)]{0,60}\)[\s\S]{0,200}(?:spawn|exec)\("
    r"|fsockopen\([^)]{0,80}\)[\s\S]{0,100}(?:exec|proc_open|shell)|TCPSocket[\s\S]{0,160}(?:exec|spawn|system|popen|sh\b|`)"
    # A shell whose input and output are piped, in whatever order; gawk's own connections.
    r"|(?:spawn|exec)\w{0,8}\s*\(\s*[\"'](?:/(?:usr/)?bin/)?(?:(?:ba|z|da)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?)[\"']"
    r"[\s\S]{0,300}\.pipe\s*\("
    r"|/inet[46]?/(?:tcp|udp)/[\s\S]{0,300}(?:[^|]\|\s{0,8}getline|system\s{0,8}\()"
    r"|(?:check_output|getoutput|popen|system|\brun)\s*\([^()\n]{0,40}\.recv\s*\("
    r"|STD(?:IN|OUT)\s*,\s*[\"']>&|exec\s*\(?\s*[\"']/bin/(?:ba|z)?sh|IO::Socket::INET[\s\S]{0,300}exec|new-object\s+(?:system\.)?net\.sockets\.tcpclient"
)
_SOCKET = compile_byte_pattern(
    r"socket|net\.connect|fsockopen|TCPSocket|tcpclient|[\"'](?:node:)?(?:net|tls)[\"']"
    r"|/inet[46]?/(?:tcp|udp)/",
    ignore_case=True,
)
# What a framework keeps its secrets in, shown.
_SETTINGS_SHOWN = compile_byte_pattern(
    r"(?:print|puts|p|pp|echo|dump|log|dd|var_dump|print_r|inspect)\b[^\n;]{0,60}(?:settings\.(?:SECRET_KEY|DATABASES)"
    r"|application\.(?:credentials|secrets)|credentials\.(?:to_h|config|read))"
)
# A secret in the address, where every log on the way keeps it.
_SENT = compile_byte_pattern(
    r"https?://[^\"'`\n]*[\"']\s*(?:\+|%|\.)\s*[\w.(]*(?:environ|process\.env|ENV)\b[^\n]{0,30}"
    r"(?:KEY|TOKEN|SECRET|PASS)|https?://[^\"'`\n]*\{[^}\n]*(?:environ|process\.env|ENV)[^}\n]*"
    r"(?:KEY|TOKEN|SECRET|PASS)"
)
# Most programs do none of this, told by reading them once (bench: "a program read"). Of
# those patterns that count, only the pieces that they need.
_FIRST = PatternSet(
    compile_byte_pattern(
        r"urlopen|requests\.get|httpx\.get|URI\.open|open-uri|Net::HTTP|https?|fetch"
        r"|\.then|await"
    ),
    _SOCKET,
    compile_byte_pattern("login item", ignore_case=True),
    SENDING,
    SIGNS,
)
_FETCHES, _CONNECTS, _LOGS_IN, _SENDS, _SENSITIVE = range(5)


def list_programs(walk: Walk, call: ProgramCall) -> Iterator[str]:
    """Texts that the interpreter runs: on the command line, or from its input."""
    for word in call.argv[1:]:
        if len(word) > 6 and ("(" in word or " " in word or "." in word):
            yield word
    if call.simple.redirects or call.simple.stage is not None:
        content = walk.find_stdin(call)
        if content is not None and content.text:
            yield content.text


def judge_program_text(walk: Walk, call: ProgramCall) -> None:
    for text in list_programs(walk, call):
        for rule in list_program_rules(text):
            walk.report.add(rule, call)


def list_program_rules(text: str) -> Iterator[str]:
    """Which rules the text of a program breaks, in any language."""
    data = encode_one_byte(text)
    found = _FIRST.match(data)
    if _FETCHES in found and _FETCHED_CODE.search(data):
        yield "remote-code"
    if _CONNECTS in found and _HANDED_SHELL.search(data):
        yield "remote-shell"
    if _SENDS in found and sends_file(text):
        yield "exfil-upload"
    if _LOGS_IN in found and _LOGIN_ITEM.search(data):
        yield "persist-service"
    if _SENSITIVE not in found and not hides_sign(data):
        return
    if _DUMP.search(data):
        yield "credential-environment"
    if _SETTINGS_SHOWN.search(data):
        yield "credential-print"
    if _SENT.search(data):
        yield "exfil-secret"
    if not _OPENING.search(data):
        return
    told: set[str] = set()
    at_home = _HOME.search(data) is not None
    for start, end in _LITERAL.finditer(data):
        for word in text[start + 1 : end - 1].split():
            rule = find_secret_rule(word)
            if not rule and at_home and word.lstrip("/")[:1] == ".":
                rule = find_secret_rule("~/" + word.lstrip("/"))
            if rule and rule not in told:
                told.add(rule)
                yield rule
