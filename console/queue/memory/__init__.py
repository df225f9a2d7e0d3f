"""What was decided: how the same was ruled before, what is decided, what came of it."""
