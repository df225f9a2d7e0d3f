"""What goes without a loss, and what only looks as if it did."""
