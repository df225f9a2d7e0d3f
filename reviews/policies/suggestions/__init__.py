"""Suggestions for a policy from its stored history and people's rulings."""
