"""Judging what a program reads, sends, writes and starts, beyond what it destroys."""
