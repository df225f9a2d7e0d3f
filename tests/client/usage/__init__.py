"""What agents report of what their models used: tokens, cost and time."""
