"""People are told, while they are away, that something waits for them."""
