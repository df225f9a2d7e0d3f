"""Runs and their calls, blocking and asynchronous."""
