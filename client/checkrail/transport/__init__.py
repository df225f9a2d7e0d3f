"""Requests to the server: what to send, when to try again, and who does the I/O."""
