"""What admins do to a project: its people, agents, keys and settings, each in the ledger."""
