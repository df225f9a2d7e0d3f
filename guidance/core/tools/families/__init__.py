"""The families of rules applied to reads, edits and the arguments of tools.

The rules are in `shell_commands/rules/families`: they are the same for commands.
"""
