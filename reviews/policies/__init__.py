"""Policies as people see and change them: versions, differences, validation."""
