"""Unified diffs: parsed by their structure, shown as rows with both line numbers."""
