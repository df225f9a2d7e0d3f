"""Scanners: each finds one sort of secret in a text."""
