"""Secrets in a call: which of them are put somewhere, and which only sought."""
