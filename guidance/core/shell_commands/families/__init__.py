"""How a command is found to read, send, write or start what it should not.

The rules themselves are in `shell_commands/rules/families`; `tools/families` applies them
to calls that are no command.
"""
