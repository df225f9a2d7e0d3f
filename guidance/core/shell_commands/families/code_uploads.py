"""Programs on a command line that read a file and send it to another machine."""

from __future__ import annotations

import re

from guidance.core.regex import compile_byte_pattern, encode_one_byte
from guidance.core.shell_commands.families.destinations import (
    is_local,
    is_request_file,
)

SENDING = compile_byte_pattern(
    r"\.(?:post|put|patch|upload_file|upload_fileobj|put_object|storbinary|storlines|sendmail|send_message|sendall)\s*\("
    r"|\bdata\s*=|\bmethod[\"']?\s*(?:=>|[:=])\s*[\"'](?:POST|PUT)|->(?:post|put)\b|\b(?:POST|PUT)[\"']\s*,"
)
_ADDRESS = re.compile(r"[\"'`]((?:https?|ftps?|wss?)://[^\"'`\s]{1,300})")
# Clients that are told a host, or know their own.
_CLIENT = re.compile(
    r"\b(?:ftplib\.FTP\w*|SMTP(?:_SSL)?|create_connection|connect)\(\s*\(?\s*[\"']([\w.-]+)[\"']"
    r"|\b(paramiko|boto3|pysftp)\b"
)
_LIBRARIES = ("paramiko", "boto3", "pysftp")
_PATH = r"(?:[\"'`](?P<path>[^\"'`\n]{1,200})[\"'`]|[\w$.]{1,60})"
_READING = re.compile(
    rf"(?<![.\w])open\(\s*[rbf]?{_PATH}\s*(?:,\s*[\"']r?b?t?[\"'][^()\n]{{0,60}})?\)"
    rf"|\b(?:Path\(\s*[rbf]?{_PATH.replace('path', 'path2')}\s*\)\.read_\w+"
    rf"|(?:readFileSync|readFile|createReadStream|file_get_contents|upload_file|CURLFile|File\.(?:read|open|binread|new))\s*\(\s*"
    rf"(?!https?:){_PATH.replace('path', 'path3')}|\.put\(\s*{_PATH.replace('path', 'path4')})"
    r"|@ARGV[^;\n]{0,20}=\s*\(?\s*[\"'](?P<path5>[^\"'\n]{1,200})[\"']"
)
_NAMES = ("path", "path2", "path3", "path4", "path5")


def sends_file(text: str) -> bool:
    """What it reads is not meant for others, and the receiver is not this machine."""
    if SENDING.search(encode_one_byte(text)) is None:
        return False
    places = [found[1] for found in _ADDRESS.finditer(text)]
    clients = [found[1] or found[2] for found in _CLIENT.finditer(text)]
    elsewhere = [place for place in places if not is_local(place)]
    elsewhere += [each for each in clients if each in _LIBRARIES or not is_local(each)]
    if not elsewhere:
        return False
    for found in _READING.finditer(text):
        path = next((path for name in _NAMES if (path := found[name])), "")
        if not path.startswith("http") and not is_request_file(path):
            return True
    return False
