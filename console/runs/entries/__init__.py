"""The entries of a run: which are shown, in which order, and one with all that it holds."""
