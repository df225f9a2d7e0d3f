"""Calls that destroy by their tool or by what they write, without a command being read."""
