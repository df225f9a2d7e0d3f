"""Work in the background that takes long: its row, and the worker that does it."""
