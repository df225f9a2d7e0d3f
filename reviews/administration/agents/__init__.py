"""Agents and their keys: made, changed, disabled and revoked by admins."""
