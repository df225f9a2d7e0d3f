"""What careless agents do by accident, with look-alikes."""
