"""The stored entries of the day, and what the commands say that check them."""

from __future__ import annotations

from io import StringIO

from django.core.management import call_command

from ledger.models import Entry
from tests.golden.stage import Stage
from tests.golden.writing import mask, write_json
from webhooks.models import Delivery
from webhooks.signing import build_signed_headers, list_valid_secrets

# Of each type so many, the oldest: they differ in what an entry of the type may leave out.
KEPT = {1: 1, 2: 2}
HASHES = ("prev_hash", "payload_sha256", "hash")


def record_entries(stage: Stage, entry_format: int) -> set[str]:
    """Write the oldest entries of each type; return the types.

    The text is what the hash is made over. How SQLite keeps it packed is left out: that
    follows from the machine's own zlib.
    """
    file = stage.files[f"entries/format_{entry_format}.txt"]
    types = set(Entry.objects.values_list("type", flat=True))
    for name in sorted(types):
        found = Entry.objects.filter(type=name).select_related("run").order_by("pk")
        lines = [f"=== {name}"]
        for entry in found[: KEPT[entry_format]]:
            assert entry.version == entry_format
            at = entry.at.isoformat()
            place = f"{entry.run.code} {entry.seq} ({entry.position})"
            lines.append(f"--- {place} {at} {entry.actor}")
            lines.append(f"step {entry.step_number}, decision {entry.decision!r}")
            lines += [f"{hash}: {getattr(entry, hash)}" for hash in HASHES]
            lines.append(write_json(entry.payload))
        file.append("\n".join(lines) + "\n")
    return types


def record_commands(stage: Stage, entry_format: int) -> None:
    """Write what `replay` and `ledger_verify` print over the whole day."""
    for command in ("replay", "ledger_verify"):
        said = StringIO()
        try:
            call_command(command, stdout=said, stderr=said)
        except SystemExit as end:
            said.write(f"(ended with {end.code})\n")
        text = f"=== {command}, entries of format {entry_format}\n{said.getvalue()}"
        stage.files[f"commands_format_{entry_format}.txt"].append(mask(text))


def record_deliveries(stage: Stage) -> set[str]:
    """Write the first delivery of each event, signed as it is sent; return the events."""
    found = Delivery.objects.select_related("endpoint").order_by("pk")
    seen = set[str]()
    for delivery in found:
        if delivery.type in seen:
            continue
        seen.add(delivery.type)
        headers = build_signed_headers(
            webhook_id=str(delivery.event),
            at=delivery.created_at,
            body=delivery.body,
            secrets=list_valid_secrets(delivery.endpoint, at=delivery.created_at),
        )
        lines = [f"=== {delivery.type}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines.append(write_json(delivery.body))
        stage.files["webhooks.txt"].append("\n".join(lines) + "\n")
    return seen
