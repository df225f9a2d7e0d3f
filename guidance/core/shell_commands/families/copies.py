"""Files copied or mailed from here to elsewhere."""

from __future__ import annotations

import re

from guidance.core.shell_commands.call import ProgramCall
from guidance.core.shell_commands.families.destinations import PUBLIC_FILE, is_local
from guidance.core.shell_commands.families.streams import judge_fed_input
from guidance.core.shell_commands.sensitive.secret_paths import find_secret_rule
from guidance.core.shell_commands.walk import Walk
from guidance.core.shell_commands.word_lists import split_names

# Their commands stand on the command line, in a file or on the input.
_SESSIONS = split_names("sftp ftp lftp psftp tftp smbclient winscp cadaver ncftp")
_BY_HOST = split_names("scp rsync pscp")
# Which of their verbs send something; of these whatever they send is asked about.
_SENDING = {
    "aws": split_names("cp sync mv"),
    "gcloud": split_names("cp rsync mv"),
    "gsutil": split_names("cp rsync mv"),
    "ossutil": split_names("cp sync"),
    "obsutil": split_names("cp sync"),
    "rclone": split_names("copy sync move copyto moveto rcat bisync"),
    "mc": split_names("cp mv put mirror pipe"),
    "s3cmd": split_names("put cp mv sync"),
    "s5cmd": split_names("cp mv sync"),
    "b2": split_names("upload sync upload-file"),
}
_ALL_ASKED = _BY_HOST | {"rclone", "mc"}
COPYING = _SESSIONS | _BY_HOST | _SENDING.keys()
MAILING = split_names(
    "mail mailx mutt sendmail swaks msmtp ssmtp nail s-nail neomutt send-mailmessage "
    "sendemail mpack blat"
)
_ATTACHING = ("-a", "-A", "-attachments", "-attachment", "-attach", "-att")
# Short options of rsync that take no value, of which -n is one.
_BUNDLE = re.compile(r"-[acdghiklnopqrtuvxzAEHLPSWX]+")
_PUTTING = re.compile(r"\b(?:m?put|reput|mirror -R|mirror --reverse|prompt.*mput)\b")
_REMOTE = re.compile(
    r"(?:[\w.-]+@)?[\w.-]{2,}:(?!//).*|:\w+(?:,[^:]*)?:.*|(?:rsync|sftp|ftp|s3|gs|oss|obs|b2|https?)://.*"
)
# `mc` calls a server by a name of its own: name/bucket.
_NAMED_BUCKET = re.compile(r"(?!(?:local\w*|minio|myminio|play)/)[\w-]+/[\w.-]+.*")
_BUCKET = re.compile(r"(\w+://[^/]+|[\w.-]+:[^/]*).*")
_DATA = re.compile(
    r".*\.(?:sql|dump|db|sqlite3?|csv|tsv|xlsx?|parquet|bak|tgz|gz|zip|tar|7z|pst|mbox|docx?|pdf|log|json|pem|key|env)"
    r"|(?:~|/home|/root|/etc|/users|/var|/srv|/mnt|/data)(?:/.*)?|.*(?:backup|dump|export|customer|client|secret|private|document)\S*",
    re.IGNORECASE,
)


def judge_mail(walk: Walk, call: ProgramCall) -> None:
    attached = any(
        word in _ATTACHING[:2]
        or word.lower() in _ATTACHING[2:]
        or word.startswith("--attach")
        for word in call.argv
    )
    rule = judge_fed_input(walk, call)
    if rule == "exfil-secret":
        walk.report.add_whole(rule, call)
    elif attached or rule:
        walk.report.add_whole("exfil-mail", call)


def judge_copy(walk: Walk, call: ProgramCall) -> None:
    """scp, rsync and the clouds' copies, from here to elsewhere."""
    words = [word for word in call.argv[1:] if word[:1] != "-" or word == "-"]
    if call.name in _SESSIONS:
        _judge_session(walk, call, words)
        return
    if call.name in _SENDING:
        verb = next((w for w in words if w in _SENDING[call.name]), None)
        if verb is None:
            return
        words = words[words.index(verb) + 1 :]
    if len(words) < 2 or _is_rehearsed(call):
        return
    words = _drop_last_values(call, words)
    target = words[-1]
    if not _is_elsewhere(call, target):
        return
    if call.name in _BY_HOST and is_local(target.rpartition("@")[2].partition(":")[0]):
        return
    sources = [word for word in words[:-1] if not _REMOTE.fullmatch(word)]
    if not sources:
        if call.name in _SENDING and _leaves_bucket(words):
            walk.report.add("exfil-copy", call)
        return
    if sources == ["-"]:
        if judge_fed_input(walk, call):
            walk.report.add_whole("exfil-copy", call)
        return
    if any(find_secret_rule(path) for path in sources):
        walk.report.add("exfil-secret", call)
    elif call.name in _ALL_ASKED or any(
        _DATA.fullmatch(path) and not PUBLIC_FILE.fullmatch(path) for path in sources
    ):
        walk.report.add("exfil-copy", call)


def _is_rehearsed(call: ProgramCall) -> bool:
    """A dry run, also at the end of a bundle as in `rsync -avn`."""
    if "--no-dry-run" in call.argv or "--no-n" in call.argv:
        return False
    return any(
        word in ("-n", "--dry-run")
        or (call.name == "rsync" and _BUNDLE.fullmatch(word) and "n" in word)
        for word in call.argv[1:]
    )


def _drop_last_values(call: ProgramCall, words: list[str]) -> list[str]:
    """Without the values of options that stand behind the target."""
    argv = call.argv
    rest = list(words)
    place = len(argv) - 1
    while len(rest) > 2 and place > 0 and not _is_elsewhere(call, rest[-1]):
        if argv[place] == rest[-1]:
            if argv[place - 1][:1] != "-":
                break
            rest.pop()
        place -= 1
    return rest


def _is_elsewhere(call: ProgramCall, place: str) -> bool:
    return _REMOTE.fullmatch(place) is not None or (
        call.name == "mc" and _NAMED_BUCKET.fullmatch(place) is not None
    )


def _judge_session(walk: Walk, call: ProgramCall, words: list[str]) -> None:
    content = walk.find_stdin(call)
    start = call.simple.start
    # Also what a process substitution hands over as the file of commands.
    typed = walk.budget.read_again(call.script.text[start:]).partition("\n")[0]
    text = f"{content.text if content else ''} {typed} {' '.join(call.argv)}"
    outside = [
        word
        for word in words
        if not is_local(word.rpartition("@")[2].partition(":")[0])
    ]
    if outside and _PUTTING.search(text):
        walk.report.add_whole("exfil-copy", call)


def _leaves_bucket(words: list[str]) -> bool:
    """From one bucket or remote to another one."""
    names = {found[1] for word in words if (found := _BUCKET.fullmatch(word))}
    return len(names) > 1
