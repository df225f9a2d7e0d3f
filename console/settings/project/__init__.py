"""The tab Project: its name and default policy, and another project."""
