"""Both sides of a border: what is held, and what only looks like it."""
