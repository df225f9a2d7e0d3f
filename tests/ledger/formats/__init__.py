"""Forms of entries: as they are hashed, and as the database keeps them."""
