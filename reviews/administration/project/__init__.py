"""A project itself: its name, and what it decides for its agents."""
