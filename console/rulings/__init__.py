"""The page of past rulings: figures per reviewer, and every ruling with what came of it."""
