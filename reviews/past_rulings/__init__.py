"""What people decided, as lists and figures: read from rows, never from contents."""
