"""Rules beyond destruction: what is read, sent, kept running, raised, or run from afar.

What their conditions need to know of a command is found in `shell_commands/families`.
"""
