"""A reviewer stops everything of a scope at once; a manager releases it."""
