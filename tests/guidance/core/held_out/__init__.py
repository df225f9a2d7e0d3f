"""Calls that nobody has written rules for: the README here says how they are used."""
