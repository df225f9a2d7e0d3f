"""Figures across runs, counted by the database from rows, never from payloads."""
