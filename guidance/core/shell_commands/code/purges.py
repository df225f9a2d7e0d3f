"""Calls that empty a table, a store or a cloud, language by language."""

from __future__ import annotations

import re

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
PYTHON_PURGES = re.compile(
    r"\.(?:all|filter)\(\s*\)\.(?:delete|_raw_delete)\s*\(|\.drop_all\s*\(|\.flush(?:all|db)\s*\("
    r"|\.drop_database\s*\(|\.delete_many\s*\(\s*\{\s*\}|\.drop_collection\s*\("
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
