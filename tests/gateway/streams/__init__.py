"""Streams of events and waits, each part by itself."""
