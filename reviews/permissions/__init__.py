"""Grants for one call, and standing permissions for calls alike."""
