"""Judging one program with its arguments."""
