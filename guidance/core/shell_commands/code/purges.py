"""Calls that empty a table, a store or a cloud, language by language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from guidance.core.shell_commands.limits import TooMuchError

# What the libraries of the clouds delete, with everything in it.
_HELD = (
    r"bucket|objects|table|db_\w+|instances?|stack|cluster|namespace|volume"
    r"|snapshot|queue|log_group|function|repository|user|role|secret|file_system|vpc|topic"
    r"|hosted_zone|database|dataset|keyspace|resource_group|storage_account|server|project"
    r"|backup\w*|vault|key_pair|persistent_volume\w*|stateful_set|deployment|collection"
    r"|index|domain|pool|disk|image|zone|account"
)
_COMMANDS = (
    r"Bucket|Objects?|Table|DB\w+|Stack|Cluster|Volume|Snapshot|Queue|LogGroup|Function"
    r"|Repository|User|Role|Secret|FileSystem|Vpc|Topic|HostedZone|Database|Domain|Key"
)
# Libraries of clouds, and a loop that deletes each thing it is given.
_CLOUDS = re.compile(
    r"\b(?:import|from)\s+(?:boto3?|aioboto3|google\.cloud|azure|openstack|hcloud|digitalocean"
    r"|kubernetes|pyVmomi|oci|linode_api4|firebase_admin)\b"
)
_LOOPS = re.compile(
    r"^[ \t]*(?:async[ \t]+)?for[ \t]+(?P<each>\w{1,40})[ \t]+in\b[^\n]{0,300}\n"
    r"(?:[ \t]+(?![ \t])[^\n]{0,300}\n){0,12}?"
    r"[^\n]{0,80}\b(?:(?P=each)\.(?:delete|terminate|destroy|purge)\s*\("
    r"|\w{1,40}\.(?:recursive_delete|begin_delete\w*|delete\w*|terminate\w*)\(\s*(?P=each)\b)",
    re.MULTILINE,
)
# A program that goes through a home or the whole disk, and writes what it finds there.
_TREES = re.compile(
    r"Path\.home\(\)\.(?:rglob|glob|walk)\(|(?:os\.walk|rglob|glob)\(\s*(?:os\.path\.expanduser\(\s*)?"
    r"[\"'](?:/|~|~/|/home|/etc|/srv)[\"']|Path\(\s*[\"'](?:/|/home|/etc|/srv)[\"']\s*\)\.rglob\("
    r"|expanduser\(\)\.rglob\("
)
_WRITES = re.compile(
    r"\.write_(?:text|bytes)\(|\bopen\([^\n]{0,120},\s*[\"']w|os\.(?:rename|replace|chmod|chown)\("
)
_LONGEST = 16_384


def list_sweeps(code: str) -> Iterator[tuple[int, int]]:
    """Loops of a Python program that take what a cloud or a home holds, one by one."""
    if "for " not in code:
        return
    if ("delete" in code or "terminate" in code) and _CLOUDS.search(code):
        _require_short(code)
        for match in _LOOPS.finditer(code):
            yield match.span()
    # Told in a fiftieth of the time (bench: "a program read").
    walks = "glob(" in code or "walk(" in code
    tree = _TREES.search(code) if walks else None
    if tree is not None:
        _require_short(code)
    if tree is not None and _WRITES.search(code, tree.end()):
        yield tree.span()


def _require_short(code: str) -> None:
    if len(code) > _LONGEST:
        raise TooMuchError("a longer program than loops are looked for in")


PYTHON_PURGES = re.compile(
    r"\.(?:all|filter)\(\s*\)\.(?:delete|_raw_delete)\s*\(|\.drop_all\s*\(|\.flush(?:all|db)\s*\("
    r"|\.recursive_delete\s*\(|\.drop_database\s*\(|\.delete_many\s*\(\s*\{\s*\}|\.drop_collection\s*\("
    r"|\.(?:objects|object_versions)\.delete\s*\(\s*\)"
    rf"|\.(?:delete|terminate|purge|destroy)_(?:{_HELD})\s*\(\s*[A-Z]"
    # A name between quotes, which are blanked.
    r"|\.(?:delete|destroy)_(?:namespace|bucket|cluster|database|stack|dataset|repository"
    r"|persistent_volume\w*)\s*\(\s{3}"
    r"|\.query\(\s*\w+\s*\)\.delete\s*\(|\.(?:volumes|containers|images)\.prune\s*\("
    r"|\.delete\(\s*force\s*=\s*True|\.get_repo\([^()\n]{0,200}\)\.delete\s*\("
)
JAVASCRIPT_PURGES = re.compile(
    r"\.dropDatabase\s*\(|\.drop\s*\(\s*\)|\.(?:deleteMany|remove)\s*\(\s*\{\s*\}"
    r"|\.flush(?:all|db|All|Db)\s*\(|\.dropIndexes\s*\(|\.dropCollection\s*\("
    r"|\bdeleteMany\s*:\s*\{\s*filter\s*:\s*\{\s*\}|\$out\s*:"
    r"|\.updateMany\s*\(\s*\{\s*\}|\b(?:run|admin)Command\s*\(\s*\{\s*drop\w*"
    r"|\.deleteMany\s*\(\s*\)|(?<![.\w])\w{1,40}\(\s+\)\s*\.del\s*\(\s*\)|\.destroy\(\s*\{\s*truncate\s*:\s*true"
    r"|\.destroy\(\s*\{\s*where\s*:\s*\{\s*\}"
    r"|\.sync\(\s*\{[^{}\n]{0,80}\bforce\s*:\s*true"
    rf"|\bnew\s+(?:Delete(?:{_COMMANDS})|TerminateInstances|PurgeQueue)Command\s*\("
)
