"""Starts the tests: profiles, their services, and the choice of tests for each."""
