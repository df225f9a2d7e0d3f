"""Both sides of the families' borders: what is asked about, and what only looks like it."""
