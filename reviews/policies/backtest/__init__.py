"""A draft of a policy tried over stored history, and what people had said to it."""
