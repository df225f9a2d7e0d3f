"""The migrations of `config`, and one more that needs a table for itself."""
