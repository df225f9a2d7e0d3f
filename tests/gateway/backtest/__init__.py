"""What a draft would have decided about stored steps, calls, checks and turns."""
