"""What the commands on the ledger have in common."""
