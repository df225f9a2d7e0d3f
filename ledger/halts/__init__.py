"""Runs that a halt holds, as a query."""
