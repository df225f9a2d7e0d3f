"""The database copies the figures of a run in the commit that ends it (docs/adr/0030).

Also those of runs that ended before. On PostgreSQL labels get an index of their own kind.
"""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Each column of the copy, and what it is made of.
COLUMNS = {
    "run_id": "{0}id",
    "project_id": "{0}project_id",
    "agent_id": "{0}agent_id",
    "policy_id": "{0}policy_id",
    "status": "{0}status",
    "intent": "{0}intent",
    "model": "{0}model",
    "created_at": "{0}created_at",
    "steps": "{0}steps",
    "tokens": "{0}tokens_used",
    "cost_micros": "{0}cost_micros_used",
    "time_ms": "{1}({0}time_ms_used, COALESCE({0}running_ms, 0))",
}
NAMES = ", ".join(COLUMNS)
UPDATES = ", ".join(f"{name} = excluded.{name}" for name in COLUMNS)
EVENTS = ("INSERT", "UPDATE")


def list_values(row: str, vendor: str) -> str:
    larger = "GREATEST" if vendor == "postgresql" else "MAX"
    return ", ".join(value.format(row, larger) for value in COLUMNS.values())


def build_copy(vendor: str) -> str:
    return (
        f"INSERT INTO ledger_runend ({NAMES}) "  # noqa: S608 (names of this module)
        f"VALUES ({list_values('NEW.', vendor)}) "
        f"ON CONFLICT (run_id) DO UPDATE SET {UPDATES};"
    )


def copy_ends(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    vendor = editor.connection.vendor
    if vendor == "postgresql":
        editor.execute("CREATE INDEX run_by_labels ON ledger_run USING gin (labels)")
        editor.execute(
            "CREATE FUNCTION ledger_runend_copy() RETURNS trigger LANGUAGE plpgsql "
            f"AS $$BEGIN {build_copy(vendor)} RETURN NULL; END$$"
        )
        editor.execute(
            "CREATE TRIGGER ledger_runend_copy AFTER INSERT OR UPDATE ON ledger_run "
            "FOR EACH ROW WHEN (NEW.finished_at IS NOT NULL) "
            "EXECUTE FUNCTION ledger_runend_copy()"
        )
    else:
        for event in EVENTS:
            editor.execute(
                f"CREATE TRIGGER ledger_runend_{event.lower()} AFTER {event} ON "
                "ledger_run WHEN NEW.finished_at IS NOT NULL "
                f"BEGIN {build_copy(vendor)} END"
            )
    editor.execute(
        f"INSERT INTO ledger_runend ({NAMES}) "  # noqa: S608 (names of this module)
        f"SELECT {list_values('', vendor)} "
        "FROM ledger_run WHERE finished_at IS NOT NULL"
    )


def stop_copying(_apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute("DROP TRIGGER ledger_runend_copy ON ledger_run")
        editor.execute("DROP FUNCTION ledger_runend_copy()")
        editor.execute("DROP INDEX run_by_labels")
    else:
        for event in EVENTS:
            editor.execute(f"DROP TRIGGER ledger_runend_{event.lower()}")
    editor.execute("DELETE FROM ledger_runend")


class Migration(migrations.Migration):
    dependencies = [("ledger", "0006_run_list")]

    operations = [migrations.RunPython(copy_ends, stop_copying)]
