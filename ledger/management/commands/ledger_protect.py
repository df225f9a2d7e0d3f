"""manage.py ledger_protect: put the triggers back that keep the ledger append-only.

Exit 1 when a table is still not as it should be.
"""

from __future__ import annotations

import sys
from typing import Any

from django.db import connection, transaction

from common.append_only import KEYS, list_faults, protect_statements
from common.commands import QuickCommand


class Command(QuickCommand):
    help = "Put back the triggers that refuse to change the ledger."

    def handle(self, *args: Any, **options: Any) -> None:
        for fault in list_faults():
            self.stdout.write(fault)
        with transaction.atomic(), connection.cursor() as cursor:
            for table in KEYS:
                for statement in protect_statements(table, connection.vendor):
                    cursor.execute(statement)
        left = list_faults()  # a trigger that is not ours is left to its owner
        for fault in left:
            self.stderr.write(f"STILL {fault}")
        if left:
            sys.exit(1)
        self.stdout.write(f"{len(KEYS)} tables are protected. Now run ledger_verify.")
