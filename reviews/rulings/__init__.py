"""What people decide on reviews and runs, and what follows from it."""
