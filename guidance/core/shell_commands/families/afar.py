"""Programs joined to the network: shells handed out, scripts fed in, code cloned and run."""

from __future__ import annotations

import re

from guidance.core.regex import PatternSet, compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.disposable.whole_script import list_all_after
from guidance.core.shell_commands.families.contents import list_manifest_rules
from guidance.core.shell_commands.families.pipelines import list_feeders
from guidance.core.shell_commands.program_names import resolve_program
from guidance.core.shell_commands.rules.families.remote_reading import is_only_looking
from guidance.core.shell_commands.rules.invocation import list_verbs
from guidance.core.shell_commands.shell.tree import Simple, Variable, Word
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

CONNECTING = split_names("nc ncat netcat socat telnet openssl pwncat")
SQL_CLIENTS = split_names(
    "psql mysql mariadb sqlcmd sqlplus cockroach usql pgcli mycli sqlite3 mongosh"
)
DETACHING = split_names("nohup setsid daemonize screen tmux start-stop-daemon disown")
INSTALLING = split_names("dpkg rpm apt apt-get dnf yum zypper pacman installer msiexec")
_SHELLS = split_names("sh bash zsh dash ksh fish powershell cmd python perl ruby")
_APPLYING = split_names("apply create replace")
_STDIN = frozenset("-")
_LOOP = re.compile(r"while\s+(?:true|:|\[\s*1|sleep)|for\s*\(\(\s*;|until\s+false")
_GRANT = compile_byte_pattern(
    r"\b(?:alter|create)\s+(?:role|user)\s[^;]*\b(?:superuser|createrole|bypassrls|replication)\b"
    r"|\bgrant\s+(?:all(?:\s+privileges)?|super|[\w, ]+)\s+on\s+\*\.\*|\bwith\s+(?:grant|admin)\s+option"
    r"|\bgrant\s+(?:pg_\w+|rds_superuser|cloudsqlsuperuser|postgres|root|dba|sysdba|db_owner|sysadmin)\b|sp_addsrvrolemember"
    r"|\balter\s+server\s+role\s+\S+\s+add\s+member|\bgrant\s+[\w, ]+\s+on\s+[^;]*\bto\s+(?:public|'?%)",
    ignore_case=True,
)
# Statements by which the machine of the database runs a program.
_RUNS_PROGRAM = compile_byte_pattern(
    r"\bcopy\b[^;]*\b(?:to|from)\s+program\b|\bxp_cmdshell\b|\bsys_(?:exec|eval)\s*\(|\bdbms_scheduler\.create_job\b",
    ignore_case=True,
)
# Where databases keep the passwords of those who may log in.
_PASSWORDS = compile_byte_pattern(
    r"\b(?:pg_shadow|pg_authid|rolpassword|mysql\.user|authentication_string|sys\.sql_logins|dba_users|user\$)\b",
    ignore_case=True,
)
# Most statements do none of these, told by reading them once (bench: "rows for a database").
_REACHING = PatternSet(_GRANT, _RUNS_PROGRAM, _PASSWORDS)
_GRANTS, _RUNS, _READS = range(3)
_CHANGING = re.compile(
    r"\bsudo (?:restart|stop|start|reload) \w|\bsystemctl (?:--\S+ )?(?:restart|stop|start|reload|disable|enable|mask)\b|\breboot\b|\bshutdown\b"
    r"|\bservice \S+ (?:restart|stop|start|reload)\b|\b(?:apt|apt-get|yum|dnf|apk) [^;&|]{0,30}\b(?:install|remove|upgrade|purge)\b"
    r"|\bdocker (?:restart|stop|kill|rm|compose (?:up|down|restart|stop))\b|\bsed -i|\bkubectl (?:apply|delete|rollout|scale)\b"
    r"|\b(?:pkill|killall|usermod|useradd|passwd|iptables|ufw)\b"
)
# Machines that others depend on, by the name or the user.
_GRAVE_HOST = re.compile(
    r"root@.+|(?:[\w.-]+@)?(?:.*[-_.])?(?:prod|production|prd|live)(?:[-_.].*|\d*)",
    re.IGNORECASE,
)
_FORGES = re.compile(
    r"(?:https?://|git@|ssh://git@)(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|git\.sr\.ht)[/:].*"
)
# Where nobody keeps a project.
_ASIDE = ("/tmp/", "/var/tmp/", "/dev/shm/", "~/.", ".")  # noqa: S108
_BUILDING = split_names(
    "make ninja cmake bash sh zsh python node cargo go npm yarn pnpm pip pipx gradle mvn bundle rake docker meson"
)


def judge_connection(walk: Walk, call: ProgramCall) -> None:
    """A shell whose input or output is the network."""
    if call.name == "openssl" and "s_client" not in call.argv:
        return
    for feeder in list_feeders(call.script, call.simple):
        argv = walk.known.build_argv(feeder.words)
        if argv and resolve_program(argv[0]) in _SHELLS and not _is_plain_script(argv):
            walk.report.add("remote-shell", call)
            return


def _is_plain_script(argv: list[str]) -> bool:
    return any(word[:1] != "-" for word in argv[1:])


def judge_ssh(walk: Walk, call: ProgramCall) -> None:
    """A script from here, fed to a shell there."""
    last = call.argv[-1].split() if len(call.argv) > 2 else []
    shell = (
        bool(last)
        and resolve_program(last[0]) in _SHELLS
        and (len(last) == 1 or last[-1] in ("-s", "-"))
    )
    if not shell:
        shell = (
            len(call.argv) > 3
            and call.argv[-1] in ("-s", "-")
            and resolve_program(call.argv[-2]) in _SHELLS
        )
    grave = any(_GRAVE_HOST.fullmatch(word) for word in call.argv[1:-1])
    # One after the other, so that nothing is left to fall back on.
    grave = grave or _is_repeated(call)
    if grave and _CHANGING.search(" ".join(call.argv[2:])):
        walk.report.add("remote-command", call)
        return
    fed = call.simple.stage is not None or any(
        r.operator in ("<", "<<") for r in call.simple.redirects
    )
    if shell and fed:
        content = walk.find_stdin(call)
        if content is not None and content.text and is_only_looking(content.text):
            return
        walk.report.add_whole("remote-command", call)


def _is_repeated(call: ProgramCall) -> bool:
    """Is the host a variable of a loop?"""
    loops = {
        item.words[0]
        for item in call.script.items
        if isinstance(item, Simple) and item.role == "for" and item.words
    }
    return bool(loops) and any(
        isinstance(piece, Variable)
        for word in call.simple.words[1:-1]
        if isinstance(word, Word)
        for piece in word.pieces
    )


def judge_clone(walk: Walk, call: ProgramCall) -> None:
    """Unknown code fetched and built by the same command."""
    if "clone" not in list_verbs("git", call.argv):
        return
    address = next((word for word in call.argv if "://" in word or "git@" in word), "")
    if not address or address.startswith("file://"):
        return
    last = call.argv[-1]
    name = last.rstrip("/").rpartition("/")[2].removesuffix(".git")
    own = f"{name if last == address else last.rstrip('/')}/"
    if _FORGES.fullmatch(address):
        # Building what others publish there is daily work; running one file of it is not.
        if own.startswith(_ASIDE) and _runs_file_of(walk, call, own):
            walk.report.add("remote-package", call)
        return
    folders = ("./", own)
    for item in list_all_after(call.script, call.simple, walk.budget):
        if item.words and isinstance(item.words[0], str):
            word = item.words[0]
            if resolve_program(word) in _BUILDING or word.startswith(folders):
                walk.report.add("remote-package", call)
                return


def _runs_file_of(walk: Walk, call: ProgramCall, folder: str) -> bool:
    """Is a file of the folder run, by itself or by a shell, after this call?"""
    for item in list_all_after(call.script, call.simple, walk.budget):
        argv = walk.known.build_argv(item.words)
        shell = argv and resolve_program(argv[0]) in _SHELLS
        operands = [word for word in argv[1:] if word[:1] != "-"] if shell else argv
        if operands and operands[0].startswith(folder):
            return True
    return False


def judge_new_remote(walk: Walk, call: ProgramCall) -> None:
    """A remote made and pushed to by the same command."""
    verbs = list_verbs("git", call.argv)
    if "remote" not in verbs or not {"add", "set-url"} & set(verbs):
        return
    after = False
    for item in call.script.items:
        if item is call.simple:
            after = True
        elif after and isinstance(item, Simple) and item.words[:2] == ["git", "push"]:
            walk.report.add("exfil-remote", call)
            return


def judge_sql_grants(walk: Walk, call: ProgramCall) -> None:
    texts = [word for word in call.argv[1:] if " " in word]
    content = walk.find_stdin(call)
    if content is not None and content.text:
        texts.append(content.text)
    found = {sign for text in texts for sign in _REACHING.match(encode_one_byte(text))}
    if _GRANTS in found:
        walk.report.add("privilege-grant", call)
    if _RUNS in found:
        walk.report.add("remote-command", call)
    if _READS in found:
        walk.report.add("credential-store", call)


def judge_manifest(walk: Walk, call: ProgramCall) -> None:
    """What a cluster is given on the input of kubectl."""
    if _APPLYING.isdisjoint(list_verbs("kubectl", call.argv)) or not _STDIN.issubset(
        call.argv
    ):
        return
    content = walk.find_stdin(call)
    if content is not None and content.text:
        for rule in list_manifest_rules(content.text):
            walk.report.add(rule, call)


def judge_package_file(walk: Walk, call: ProgramCall) -> None:
    """A package that the same command has fetched from an address."""
    for word in call.argv[1:] if walk.known.files else ():
        content = walk.known.get_file(word)
        if content is not None and content.opaque == "download":
            walk.report.add("remote-package", call)
            return


def grants_rights(sql: str) -> bool:
    return _GRANT.search(encode_one_byte(sql)) is not None


def reads_passwords(sql: str) -> bool:
    return _PASSWORDS.search(encode_one_byte(sql)) is not None


def judge_detached(walk: Walk, call: ProgramCall) -> None:
    if any(_LOOP.search(word) for word in call.argv[1:]):
        walk.report.add("persist-background", call)
