"""What runs have used together, and how a manager gives more of it."""
