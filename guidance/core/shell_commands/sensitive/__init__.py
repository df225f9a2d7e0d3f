"""Names that promise something sensitive: of secrets, of files that hold or rule."""
