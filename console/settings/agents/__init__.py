"""Agents and keys in the settings: listed for managers and auditors, kept by admins."""
