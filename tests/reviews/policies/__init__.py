"""Policies as people read and check them, over the API."""
