"""The page for managers: what needs them now, and how a period went."""
